// Package conformance provides small test cases whose expected values come from independent programs.
//
// A case is a folder with a net, optionally a solver, weights and data, and expected.json: commands and their expected output and
// files. This repository's cases are in cases.zip. oracle/oracle.py generates them: it computes values from Caffe's formulas,
// with plain loops in double precision, and writes files byte by byte. [Each] runs a test on every case of a kind. Package judge
// runs a case's commands and compares the results.
//
// A second suite holds values printed by BVLC Caffe. It may lie beside the repository; tests also run on it where it exists.
package conformance

import (
	"archive/zip"
	"bytes"
	_ "embed" // for cases.zip
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed cases.zip
var archive []byte

// Each runs a test on the folder of every case whose name matches one of the patterns: on copies of this repository's cases and,
// where they exist, on BVLC Caffe's. bvlc is the number of BVLC Caffe's cases that must match.
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

// Own unpacks this repository's cases that match one of the patterns, and returns their folders.
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

// outside returns the folders of BVLC Caffe's cases that match one of the patterns.
func outside(t *testing.T, patterns []string) []string {
	t.Helper()
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for !isFile(filepath.Join(root, "go.mod")) && root != filepath.Dir(root) {
		root = filepath.Dir(root)
	}
	all, err := filepath.Glob(filepath.Join(root, "..", "shared", "conformance", "cases", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(dir string) bool { return !matches(filepath.Base(dir), patterns) })
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok })
}
