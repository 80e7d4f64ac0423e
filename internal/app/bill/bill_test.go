package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestBill lists a program that the tests describe: the modules of this one, whose licences their files say.
func TestBill(t *testing.T) {
	t.Chdir("../../..")
	own, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("the test has no build information")
	}
	info := &debug.BuildInfo{GoVersion: own.GoVersion, Main: debug.Module{Path: "github.com/swcaffe/swcaffe", Version: "(devel)"}, Deps: own.Deps,
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "plan9"}, {Key: "GOARCH", Value: "arm"}, {Key: "-ldflags", Value: "-s -X github.com/swcaffe/swcaffe/internal/base/version.number=v1.2.3 -X a=b"}}}
	parts, err := partsOf(info)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"github.com/swcaffe/swcaffe": "BSD-2-Clause", "std": "BSD-3-Clause", "github.com/google/licensecheck": "BSD-3-Clause", "uplot": "MIT"}
	got := map[string]string{}
	for _, p := range parts {
		got[p.name] = p.expression()
	}
	for name, licence := range want {
		if got[name] != licence {
			t.Errorf("%s has licence %q, want %q", name, got[name], licence)
		}
	}
	if parts[0].version != "v1.2.3" {
		t.Errorf("version %s", parts[0].version)
	}
	all := string(texts(parts))
	for _, p := range parts {
		for _, text := range p.texts {
			if !strings.Contains(all, text.content) {
				t.Errorf("the texts lack %s of %s", text.name, p.name)
			}
		}
	}
	for name, value := range map[string]object{"CycloneDX": cycloneDX(parts, target(info), "2026-11-28T10:00:00Z"), "SPDX": spdxOf(parts, target(info), "2026-11-28T10:00:00Z")} {
		path := filepath.Join(t.TempDir(), "list.json")
		if err := writeJSON(path, value); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || !json.Valid(b) || !strings.Contains(string(b), "plan9/arm") {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
		for _, p := range parts[1:] {
			if !strings.Contains(string(b), `"`+p.purl+`"`) {
				t.Errorf("%s lacks %s", name, p.purl)
			}
		}
	}
}

// TestUnknownLicence: a module without a licence, or with words that are none, stops a release.
func TestUnknownLicence(t *testing.T) {
	for _, words := range []string{"", "You may use this on Tuesdays only, and must not tell anybody about it."} {
		folder := t.TempDir()
		if words != "" {
			if err := os.WriteFile(filepath.Join(folder, "LICENSE.md"), []byte(words), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		p := part{name: "example.com/m", version: "v1.0.0"}
		if err := p.read(folder, licenceFile); err == nil || !strings.Contains(err.Error(), "example.com/m v1.0.0 has no licence that is known") {
			t.Errorf("%q: error %v", words, err)
		}
	}
}

// TestDecided: a decision about a licence fails when the file no longer says what it was made for; and a decided licence is one that the project lists.
func TestDecided(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "LICENSE"), []byte("All rights reserved."), 0o666); err != nil {
		t.Fatal(err)
	}
	p := part{name: "github.com/xi2/xz"}
	if err := p.read(folder, licenceFile); err == nil || !strings.Contains(err.Error(), "does not say") {
		t.Errorf("error %v", err)
	}
}

// TestModules holds the licences of all modules that swcaffe is built from to those known to allow its use in a program under BSD's licence.
func TestModules(t *testing.T) {
	t.Chdir("../../..")
	modules, err := modulesOf("./cmd/swcaffe")
	if err != nil {
		t.Skipf("the list of modules cannot be had here: %v", err)
	}
	parts, err := partsOf(&debug.BuildInfo{GoVersion: "go1", Main: debug.Module{Path: "github.com/swcaffe/swcaffe"}, Deps: modules})
	if err != nil {
		t.Fatal(err)
	}
	free := []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "FTL", "LicenseRef-public-domain", "MIT", "OFL-1.1"}
	for _, p := range parts {
		for _, l := range p.licences {
			if !slices.Contains(free, l) {
				t.Errorf("%s %s has the licence %s", p.name, p.version, l)
			}
		}
	}
	if len(parts) < 20 {
		t.Errorf("%d parts", len(parts))
	}
}

// modulesOf lists the modules of a package's dependencies.
func modulesOf(pkg string) (list []*debug.Module, err error) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", pkg).Output()
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return nil, err
	}
	lines := slices.Sorted(strings.Lines(string(out)))
	for _, line := range slices.Compact(lines) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			continue
		}
		_, after, _ := strings.Cut(string(sums), fields[0]+" "+fields[1]+" ")
		sum, _, _ := strings.Cut(after, "\n")
		list = append(list, &debug.Module{Path: fields[0], Version: fields[1], Sum: sum})
	}
	return list, nil
}
