package cpe

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad: whatever a machine's file says, it is refused or is a machine on which work takes time, and none of it negative.
func FuzzLoad(f *testing.F) {
	for _, name := range Names() {
		text, err := machines.ReadFile("machines/" + name + ".prototxt")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	file := filepath.Join(f.TempDir(), "fuzz.prototxt")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Load(file)
		if err != nil || s.native {
			return
		}
		for _, n := range []float64{1, 1e6, 1e9} {
			if c := s.cycles(n); c < 0 {
				t.Errorf("%g cycles take %v", n, c)
			}
		}
		if c := s.CycleTime(1e6 * s.SpecialCycles); c < 0 {
			t.Errorf("a million exponentials take %v", c)
		}
		for _, bytes := range []int{1, 4096} {
			if bw := s.DMA.strided.at(s.CPEs(), bytes, false); !(bw > 0) {
				t.Errorf("blocks of %d bytes come at %g GB/s", bytes, bw)
			}
		}
	})
}
