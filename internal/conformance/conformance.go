// Package conformance gives tests small cases with values that do not come from this program.
//
// A case is a folder with a net, perhaps a solver, weights and data, and expected.json: commands, and what these must print and write.
// The cases of this repository are in cases.zip. oracle/oracle.py writes them: it computes the values from Caffe's formulas in plain loops
// and double precision, and its files byte by byte. [Each] runs a test on every case of a kind; package judge runs a case's commands and
// compares.
//
// A second suite, of cases whose values BVLC Caffe printed, may lie beside the repository; tests run on it as well where it does.
package conformance

import (
	"archive/zip"
	"bytes"
	_ "embed" // for cases.zip
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

//go:embed cases.zip
var archive []byte

// Each runs a test on the folder of every case whose name matches one of the patterns: on a copy of this repository's, and where they are
// on those of BVLC Caffe, of which bvlc is the number.
func Each(t *testing.T, patterns []string, bvlc int, test func(t *testing.T, dir string)) {
	t.Helper()
	t.Run("own", func(t *testing.T) {
		dirs := Own(t, patterns...)
		if len(dirs) == 0 {
			t.Fatalf("no case matches %v", patterns)
		}
		each(t, dirs, test)
	})
	t.Run("BVLC", func(t *testing.T) {
		dirs := outside(t, patterns)
		if len(dirs) == 0 {
			t.Skipf("%d cases with values that BVLC Caffe printed are skipped: their suite is not beside the repository", bvlc)
		}
		if len(dirs) < bvlc {
			t.Errorf("%d cases of BVLC Caffe, want %d", len(dirs), bvlc)
		}
		each(t, dirs, test)
	})
}

func each(t *testing.T, dirs []string, test func(t *testing.T, dir string)) {
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) { test(t, dir) })
	}
}

// Own unpacks the cases of this repository that match one of the patterns, and returns their folders.
func Own(t testing.TB, patterns ...string) []string {
	t.Helper()
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	root, dirs := t.TempDir(), []string{}
	for _, f := range files.File {
		name, _, _ := strings.Cut(f.Name, "/")
		if !matches(name, patterns) {
			continue
		}
		if dir := filepath.Join(root, name); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		data, err := files.Open(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		var content bytes.Buffer
		if _, err := content.ReadFrom(data); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

// outside returns the folders of BVLC Caffe's cases that match.
func outside(t *testing.T, patterns []string) []string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	all, err := filepath.Glob(filepath.Join(filepath.Dir(here), "..", "..", "..", "shared", "conformance", "cases", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(dir string) bool { return !matches(filepath.Base(dir), patterns) })
}

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok })
}
