package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// TestShared: seven tenths of the lines of kernels' descriptions are those of every instruction set, and nine tenths of NEON's are AVX2's. Lines are counted as
// Go's coverage does while the program prints the assembly of each set.
func TestShared(t *testing.T) {
	program := filepath.Join(t.TempDir(), "asm")
	if out, err := exec.Command("go", "build", "-cover", "-coverpkg", "./...", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	runs := map[string]map[string]bool{} // by lines, the sets that run them
	for _, s := range levels {
		counts := t.TempDir()
		for _, room := range rooms() {
			print := exec.Command(program, "-room", room, "-level", s.Name, "-pkg", "asm", "-out", os.DevNull)
			print.Env = append(os.Environ(), "GOCOVERDIR="+counts)
			if err := print.Run(); err != nil {
				t.Fatal(room, s.Name, err)
			}
		}
		for _, line := range covered(t, counts) {
			if runs[line] == nil {
				runs[line] = map[string]bool{}
			}
			runs[line][s.Name] = true
		}
	}
	var all, shared, neon, both, lowering float64
	for line, sets := range runs {
		switch {
		case strings.HasPrefix(line, "arm64/"):
			lowering++
		case strings.Contains(line, "/"): // the program itself describes no kernel
			all++
			if len(sets) == len(levels) {
				shared++
			}
			if sets[emit.NEON.Name] {
				neon++
				if sets[emit.AVX2.Name] {
					both++
				}
			}
		}
	}
	t.Logf("%v of %v lines of descriptions are run for all instruction sets: %.3f; of %v lines for NEON, %v are AVX2's: %.3f; tools/asm/arm64 has %v more",
		shared, all, shared/all, neon, both, both/neon, lowering)
	if shared < 0.7*all || both < 0.9*neon {
		t.Error("want 0.7 and 0.9")
	}
}

// covered are the lines, as folder/file:number, that the processes ran that wrote their counts to a folder.
func covered(t *testing.T, counts string) (lines []string) {
	text := filepath.Join(t.TempDir(), "profile")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i", counts, "-o", text).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	profile, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.Lines(string(profile)) {
		file, at, _ := strings.Cut(strings.TrimPrefix(block, "github.com/swcaffe/swcaffe/tools/asm/"), ":")
		var first, last, column, statements, count int
		if n, _ := fmt.Sscanf(at, "%d.%d,%d.%d %d %d", &first, &column, &last, &column, &statements, &count); n < 6 || count == 0 {
			continue
		}
		for line := first; line <= last; line++ {
			lines = append(lines, fmt.Sprintf("%s:%d", file, line))
		}
	}
	return lines
}
