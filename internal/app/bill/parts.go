package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// part is something that a program contains: the project itself, which comes first, Go's standard library, a module, or a file of others.
type part struct {
	name, version string
	purl          string   // the package URL
	sum           string   // the module's h1 sum of go.sum; "" for others
	licences      []string // identifiers of SPDX, sorted
	texts         []text
}

// text is a licence's or a notice's file.
type text struct{ name, content string }

// partsOf returns the parts of a program. It is called in the project's folder.
func partsOf(info *debug.BuildInfo) ([]part, error) {
	parts := []part{{name: info.Main.Path, version: linked(info), purl: "pkg:golang/" + info.Main.Path}}
	folders := []string{"."}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	parts = append(parts, part{name: "std", version: goVersion, purl: "pkg:golang/std@" + goVersion})
	folders = append(folders, strings.TrimSpace(string(root)))
	modules, err := moduleFolders(info.Deps)
	if err != nil {
		return nil, err
	}
	for i, m := range info.Deps {
		parts = append(parts, part{name: m.Path, version: m.Version, purl: "pkg:golang/" + m.Path + "@" + m.Version, sum: m.Sum})
		folders = append(folders, modules[i])
	}
	for i := range parts {
		if err := parts[i].read(folders[i], licenceFile); err != nil {
			return nil, err
		}
	}
	embedded, err := embeddedParts()
	return append(parts, embedded...), err
}

// embeddedParts are the files of others in internal/app/page: NAME.LICENSE lies beside NAME.js, whose first line has the version.
func embeddedParts() (parts []part, err error) {
	const folder = "internal/app/page/assets"
	files, err := filepath.Glob(folder + "/*.LICENSE")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".LICENSE")
		script, err := os.ReadFile(strings.TrimSuffix(file, ".LICENSE") + ".js")
		if err != nil {
			return nil, err
		}
		version := regexp.MustCompile(`\(v([\d.]+)\)`).FindSubmatch(script[:min(len(script), 200)])
		if version == nil {
			return nil, fmt.Errorf("%s.js does not begin with a version", name)
		}
		p := part{name: name, version: string(version[1]), purl: "pkg:npm/" + name + "@" + string(version[1])}
		if err := p.read(folder, regexp.MustCompile("^"+regexp.QuoteMeta(name)+`\.LICENSE$`)); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// linked is the version that the linker was told, or the recorded one.
func linked(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if _, after, ok := strings.Cut(s.Value, "internal/base/version.number="); s.Key == "-ldflags" && ok {
			return strings.Fields(after)[0]
		}
	}
	return info.Main.Version
}

// moduleFolders returns the folders of modules' files, whose sums it compares with those in the program.
func moduleFolders(modules []*debug.Module) (folders []string, err error) {
	words := []string{"mod", "download", "-json"}
	for _, m := range modules {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s: a release has published modules only", m.Path, m.Replace.Path)
		}
		words = append(words, m.Path+"@"+m.Version)
	}
	out, failed := exec.Command("go", words...).Output() // the answers tell more than the exit code
	answers := json.NewDecoder(bytes.NewReader(out))
	found := map[string]string{}
	for answers.More() {
		var a struct{ Path, Version, Dir, Sum, Error string }
		if err := answers.Decode(&a); err != nil {
			return nil, fmt.Errorf("go mod download: %w", errors.Join(failed, err))
		}
		if a.Error != "" {
			return nil, fmt.Errorf("go mod download %s@%s: %s", a.Path, a.Version, a.Error)
		}
		found[a.Path+"@"+a.Version+" "+a.Sum] = a.Dir
	}
	for _, m := range modules {
		folder := found[m.Path+"@"+m.Version+" "+m.Sum]
		if folder == "" {
			return nil, fmt.Errorf("go mod download has no %s@%s of the program's sum %s (%v)", m.Path, m.Version, m.Sum, failed)
		}
		folders = append(folders, folder)
	}
	return folders, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([-.].*)?$`)

// decided are the licences of modules for which a person has to say: of the file, which says the words. github.com/golang/freetype offers a choice, and
// the author of github.com/xi2/xz has put it into the public domain, for which SPDX has no identifier.
var decided = map[string]struct{ file, words, licence string }{
	"github.com/golang/freetype": {"licenses/ftl.txt", "The FreeType Project LICENSE", "FTL"},
	"github.com/xi2/xz":          {"LICENSE", "public domain", "LicenseRef-public-domain"},
}

// coverage is the percentage of a file that must be the text of known licences. A notice or a pointer to a licence has less.
const coverage = 75

// read reads the licences among a folder's files.
func (p *part) read(folder string, names *regexp.Regexp) error {
	if d, ok := decided[p.name]; ok {
		content, err := os.ReadFile(filepath.Join(folder, d.file))
		if err == nil && !bytes.Contains(content, []byte(d.words)) {
			err = fmt.Errorf("%s of %s does not say %q", d.file, p.name, d.words)
		}
		p.licences, p.texts = []string{d.licence}, []text{{d.file, string(bytes.TrimSpace(content))}}
		return err
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !names.MatchString(f.Name()) || f.IsDir() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		p.texts = append(p.texts, text{f.Name(), string(bytes.TrimSpace(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))))})
		found := licensecheck.Scan(content)
		for _, m := range found.Match {
			if found.Percent >= coverage && !slices.Contains(p.licences, m.ID) {
				p.licences = append(p.licences, m.ID)
			}
		}
	}
	if len(p.licences) == 0 {
		return fmt.Errorf("%s %s has no licence that is known (%d files in %s)", p.name, p.version, len(p.texts), folder)
	}
	slices.Sort(p.licences)
	return nil
}

// texts joins all licences, each below the name of its part.
func texts(parts []part) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "This program contains the following. Each part's licences and notices follow its name.")
	for _, p := range parts {
		for _, t := range p.texts {
			fmt.Fprintf(&b, "\n%s\n%s %s (%s): %s\n%[1]s\n\n%[6]s\n", strings.Repeat("=", 80), p.name, p.version, strings.Join(p.licences, " AND "), t.name, t.content)
		}
	}
	return b.Bytes()
}
