package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestReadmeTimes: the times in the README are those that scripts/bench.sh has written to docs/PERFORMANCE.md.
func TestReadmeTimes(t *testing.T) {
	readme := benchTable(t, "README.md", "net, batch", "swcaffe ms", "Caffe / swcaffe", "PyTorch / swcaffe")
	measured := benchTable(t, "docs/PERFORMANCE.md", "net, batch", "swcaffe ms", "Caffe / swcaffe", "PyTorch / swcaffe")
	if len(readme) != 6 || len(measured) != 6 {
		t.Fatalf("tables of %d and %d nets, want 6", len(readme), len(measured))
	}
	for net, figures := range readme {
		if !slices.Equal(figures, measured[net]) {
			t.Errorf("%s: the README has %v, docs/PERFORMANCE.md %v", net, figures, measured[net])
		}
	}
}

// benchTable returns some columns of the first table of a page that has them, by the letters and digits of the first.
func benchTable(t *testing.T, page string, columns ...string) map[string][]string {
	text, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	var at []int // of the columns, once a header has all
	rows := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		cells[0] = strings.TrimPrefix(cells[0], "| ")
		cells[len(cells)-1] = strings.TrimSuffix(cells[len(cells)-1], " |")
		switch {
		case at == nil:
			if missing := slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(cells, c) }); !missing {
				for _, c := range columns {
					at = append(at, slices.Index(cells, c))
				}
			}
		case strings.TrimSpace(line) == "":
			return rows
		case !strings.HasPrefix(line, "|---"):
			var row []string
			for _, i := range at[1:] {
				row = append(row, cells[i])
			}
			rows[netName(cells[at[0]])] = row
		}
	}
	return rows
}

// netName keeps the letters, in lower case, and the digits of a net's name and batch.
func netName(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
