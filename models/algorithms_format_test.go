package models_test

import (
	"strings"
	"testing"
)

// TestAlgorithmTables: a table is read as it was printed; one changed cell is one difference, unless its column is dropped.
func TestAlgorithmTables(t *testing.T) {
	have := newTable()
	for _, layer := range []string{"conv1", "conv2"} {
		for _, column := range []string{"go", "avx512", "sw26010"} {
			have.add(choice{Layer: layer, Direction: "forward", Setting: "train", Column: column, Algorithm: "offsets"})
			have.add(choice{Layer: layer, Direction: "input gradient", Setting: "train.1", Column: column, Algorithm: "winograd-tiles/winograd4"})
		}
	}
	text := have.String()
	if !strings.Contains(text, "\nconv1, conv2\n  forward | train | offsets: go avx512 sw26010\n") {
		t.Errorf("printed:\n%s", text)
	}
	want, err := parseTable(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := differences(have, want); len(d) != 0 {
		t.Errorf("read otherwise than printed: %v", d)
	}
	have.add(choice{Layer: "conv2", Direction: "forward", Setting: "train", Column: "avx512", Algorithm: "planes"})
	if d := differences(have, want); len(d) != 1 || d[0] != `layer conv2, forward, train on avx512: "planes", want "offsets"` {
		t.Errorf("differences %v", d)
	}
	want.drop([]string{"avx512"})
	if d := differences(have, want); len(d) != 4 {
		t.Errorf("%d differences from a table without a column, want its 4 cells", len(d))
	}
	have.drop([]string{"avx512"})
	if d := differences(have, want); len(d) != 0 {
		t.Errorf("differences %v without the column in either", d)
	}
	for _, bad := range []string{"conv1\n  forward | train\n", "conv1\n  forward | train | offsets\n"} {
		if _, err := parseTable(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
