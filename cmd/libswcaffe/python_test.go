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

// arch is this computer's architecture in the names of wheels and of Debian's compilers.
var arch = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]

// install builds the wheel with scripts/wheel.sh, and returns the interpreter of a fresh environment in which the script has installed it. It
// skips the test where the script cannot work.
func install(t *testing.T, python string) string {
	t.Helper()
	if runtime.GOOS != "linux" || arch == "" {
		t.Skip("scripts/wheel.sh builds for Linux on x86_64 and aarch64")
	}
	out, err := exec.Command("go", "env", "CGO_ENABLED").Output()
	if err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Skip("cgo is off: the library needs it")
	}
	for _, tool := range []string{"bash", "git", "python3", arch + "-linux-gnu-gcc", arch + "-linux-gnu-objdump"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%v (Debian: git, python3, gcc)", err)
		}
	}
	if err := exec.Command(python, "-c", "import venv, ensurepip").Run(); err != nil {
		t.Skipf("%s cannot make environments (Debian: python3-venv)", python)
	}
	wheels, environment := t.TempDir(), filepath.Join(t.TempDir(), "venv")
	c := exec.Command("bash", filepath.Join("..", "..", "scripts", "wheel.sh"), arch, wheels, environment)
	c.Env = append(os.Environ(), "PYTHON="+python)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("wheel.sh: %v\n%s", err, out)
	}
	return filepath.Join(environment, "bin", "python")
}

// TestPython builds the wheel, installs it in a fresh environment, and runs the suite of the Python module there, python/tests, LeNet's example
// included. One failing test of it fails this test.
func TestPython(t *testing.T) {
	python := install(t, interpreter(t))
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, "-m", "unittest", "discover", "-s", filepath.Join(root, "python", "tests"))
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "GLOG_minloglevel=2", "GODEBUG=cgocheck=1", "PYTHONDONTWRITEBYTECODE=1",
		"SWCAFFE_MYPY_CACHE="+filepath.Join(root, "build", "mypy")) // what mypy has read of numpy's types
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if ran := regexp.MustCompile(`Ran (\d+) tests`).FindSubmatch(out); ran == nil || string(ran[1]) == "0" {
		t.Fatalf("no tests ran:\n%s", out)
	}
	t.Logf("%s", out)
}
