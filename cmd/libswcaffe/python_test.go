package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// interpreter returns a Python with numpy, or skips the test.
func interpreter(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("PYTHON"), "/usr/bin/python3", "python3"} {
		if name != "" && exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	t.Skip("no python3 with numpy (Debian: python3-numpy); $PYTHON names another interpreter")
	return ""
}

// buildLibrary builds the library, or skips the test without a C compiler.
func buildLibrary(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the suite runs on systems with Unix signals")
	}
	out, err := exec.Command("go", "env", "CGO_ENABLED").Output()
	if err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Skip("cgo is off: the library needs it")
	}
	path := filepath.Join(t.TempDir(), "libswcaffe.so")
	if out, err := exec.Command("go", "build", "-buildmode=c-shared", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// TestPython runs the suite of the Python module, python/tests. One failing test of it fails this test.
func TestPython(t *testing.T) {
	python, library := interpreter(t), buildLibrary(t)
	folder, err := filepath.Abs(filepath.Join("..", "..", "python"))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, "-m", "unittest", "discover", "-s", filepath.Join(folder, "tests"))
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "PYTHONPATH="+folder, "SWCAFFE_LIBRARY="+library, "GLOG_minloglevel=2", "GODEBUG=cgocheck=1", "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if ran := regexp.MustCompile(`Ran (\d+) tests`).FindSubmatch(out); ran == nil || string(ran[1]) == "0" {
		t.Fatalf("no tests ran:\n%s", out)
	}
	t.Logf("%s", out)
}
