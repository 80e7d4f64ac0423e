package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestConformance runs the suite of cases whose values BVLC Caffe printed, where it lies beside the repository.
func TestConformance(t *testing.T) {
	check, err := filepath.Abs("../../../shared/conformance/check.py")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(check); err != nil {
		t.Skip("no conformance suite beside the repository: ", check)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to run the conformance suite with")
	}
	out, _ := exec.Command(python, check, "--bin", buildBinary(t)).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines[:len(lines)-1] {
		t.Error(line)
	}
	if last := lines[len(lines)-1]; !strings.HasSuffix(last, " passed, 0 failed") {
		t.Error(last)
	}
}
