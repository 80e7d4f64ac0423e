// Package conformance provides small test cases whose expected values come from independent programs.
//
// A case is a folder with a net, optionally a solver, weights and data, and expected.json: commands and their expected output and
// files. [Each] runs a test on every case of a kind. Package judge runs a case's commands and compares the results.
//
// The cases of cases.zip come from oracle/oracle.py: it computes values from Caffe's formulas, with plain loops in double precision, and
// writes files byte by byte. Those of caffe.zip hold what BVLC Caffe 1.0 printed and wrote on a CPU, with OpenBLAS.
package conformance

import (
	"archive/zip"
	"bytes"
	_ "embed" // for the archives
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed cases.zip
var archive []byte

//go:embed caffe.zip
var caffe []byte

// Each runs a test on the folder of every case whose name matches one of the patterns, a copy: on the oracle's cases and on BVLC Caffe's.
// bvlc is the number of BVLC Caffe's cases that must match.
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
		dirs := unpack(t, caffe, patterns)
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

// Own unpacks the oracle's cases that match one of the patterns, and returns their folders.
func Own(t testing.TB, patterns ...string) []string {
	t.Helper()
	return unpack(t, archive, patterns)
}

// unpack writes the cases of an archive that match one of the patterns to a temporary folder, and returns their folders.
func unpack(t testing.TB, archive []byte, patterns []string) []string {
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

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok })
}
