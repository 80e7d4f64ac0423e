package modelplot

import (
	"strings"
	"testing"
)

// TestGroup: the picture has the machine's figures, and a mesh of single cores has none.
func TestGroup(t *testing.T) {
	for name, texts := range map[string][]string{
		"sw26010": {"one of 4 core groups", "11.6 GFLOP/s and 64 KB of LDM", "words of 32 bytes, 11 cycles", "4461 GB/s", "up to 26.42 GB/s", "8 GB"},
		"sw39000": {"one of 6 core groups", "36 GFLOP/s and 224 KB of LDM", "98 cycles inside a block of 2 x 2", "123 from corner to corner", "one queue", "16 GB"},
	} {
		picture, err := Group(load(t, name), "svg")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if !strings.Contains(string(picture), text) {
				t.Errorf("%s: the picture lacks %q", name, text)
			}
		}
	}
	if _, err := Group(load(t, "knl7250"), "svg"); err == nil || !strings.Contains(err.Error(), "has no mesh") {
		t.Errorf("error %v", err)
	}
}
