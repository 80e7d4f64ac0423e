package hdf5

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestListNamesWhatIsThere: a file of the list that is missing is an error at once, with its line, whichever comes first.
func TestListNamesWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	there, missing, list := filepath.Join(dir, "there.h5"), filepath.Join(dir, "missing.h5"), filepath.Join(dir, "list.txt")
	set := &File{Floats: []Dataset{{Path: "/data", Shape: []int{2, 1}, Data: []float32{1, 2}}}}
	if err := Write(there, set); err != nil {
		t.Fatal(err)
	}
	for text, line := range map[string]string{
		there + "\n":                        "",
		"\n" + there + "\n\n" + there:       "",
		there + "\n" + missing + "\n":       ":2: ",
		"\n\n" + missing + "\n" + there:     ":3: ",
		there + " " + there + " " + missing: ":1: ",
	} {
		if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := OpenRows(list, []string{"data"}, false, 1)
		if line == "" && err != nil || line != "" && (!errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), list+line)) {
			t.Errorf("list %q: error %v, want line %q", text, err, line)
		}
	}
	if err := os.WriteFile(list, []byte(there), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRows(list, []string{"data", "label"}, false, 1); err == nil || err.Error() != there+`: there is no dataset "label" (datasets: data)` {
		t.Errorf("without a label: %v", err)
	}
	if _, err := OpenRows(there, []string{"data"}, false, 1); err == nil || err.Error() != there+": an HDF5 file, where a text is needed that names such files, one a line" {
		t.Errorf("no list: %v", err)
	}
}

// TestListsOfOddPaths: paths with blanks, a byte order mark, and more files on a line than a buffer has bytes.
func TestListsOfOddPaths(t *testing.T) {
	dir := t.TempDir()
	list, plain, blank := filepath.Join(dir, "list.txt"), filepath.Join(dir, "a.h5"), filepath.Join(dir, "my train set.h5")
	for i, path := range []string{plain, blank} {
		if err := Write(path, &File{Floats: []Dataset{{Path: "/data", Shape: []int{1, 1}, Data: []float32{float32(i)}}}}); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string][]string{
		blank + "\n" + plain:                        {blank, plain},
		"\xef\xbb\xbf" + plain + "\r\n" + blank:     {plain, blank},
		"\xef\xbb\xbf" + blank + "\r\n":             {blank},
		plain + " " + blank + "\t" + plain:          {plain, blank, plain},
		strings.Repeat(plain+" ", 1<<17/len(plain)): slices.Repeat([]string{plain}, 1<<17/len(plain)),
	} {
		if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := OpenRows(list, []string{"data"}, false, 1)
		if err != nil {
			t.Error(err)
		} else if !slices.Equal(r.files, want) {
			t.Errorf("%.80q: %d files, want %d", text, len(r.files), len(want))
		}
	}
	if err := os.WriteFile(list, []byte(filepath.Join(dir, "my test set.h5")), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRows(list, []string{"data"}, false, 1); err == nil || !strings.Contains(err.Error(), `test set.h5" is neither one file nor several`) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestRowsInRounds: files of 3, 1 and 4 rows are read in order or, shuffled, in a new order in each round. Every round has each
// row once, with the values of all datasets, and the rows of a file are contiguous. Seek reaches the same position as as many
// calls of Next.
func TestRowsInRounds(t *testing.T) {
	dir := t.TempDir()
	write := func(names ...string) string {
		list := filepath.Join(dir, "list.txt")
		if err := os.WriteFile(list, []byte(strings.Join(names, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		return list
	}
	var names []string
	for f, rows := range []int{3, 1, 4} {
		id, pair := make([]float32, rows), make([]float32, 2*rows)
		for i := range rows {
			id[i] = float32(10*f + i)
			pair[2*i], pair[2*i+1] = id[i]+100, id[i]+200
		}
		names = append(names, filepath.Join(dir, fmt.Sprintf("%d.h5", f)))
		if err := Write(names[f], &File{Floats: []Dataset{{Path: "/id", Shape: []int{rows}, Data: id}, {Path: "/pair", Shape: []int{rows, 2}, Data: pair}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		files   []string
		shuffle bool
		inOrder []float32
	}{
		{names, false, []float32{0, 1, 2, 10, 20, 21, 22, 23}},
		{names, true, []float32{0, 1, 2, 10, 20, 21, 22, 23}},
		{names[2:], false, []float32{20, 21, 22, 23}},
		{names[2:], true, []float32{20, 21, 22, 23}},
	} {
		open := func() *Rows {
			r, err := OpenRows(write(c.files...), []string{"pair", "id"}, c.shuffle, 7)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		next := func(r *Rows) float32 {
			pair, id := make([]float32, 2), make([]float32, 1)
			if err := r.Next([][]float32{pair, id}); err != nil {
				t.Fatal(err)
			}
			if pair[0] != id[0]+100 || pair[1] != id[0]+200 {
				t.Fatalf("row %v has the pair %v", id, pair)
			}
			return id[0]
		}
		what := fmt.Sprintf("%d files, shuffle %t", len(c.files), c.shuffle)
		n := len(c.inOrder)
		all, r := make([]float32, 4*n), open()
		for i := range all {
			all[i] = next(r)
		}
		rounds, firsts := map[string]bool{}, map[float32]bool{}
		for round := range slices.Chunk(all, n) {
			rounds[fmt.Sprint(round)], firsts[round[0]] = true, true
			files := slices.CompactFunc(slices.Clone(round), func(a, b float32) bool { return math.Floor(float64(a/10)) == math.Floor(float64(b/10)) })
			sorted := slices.Sorted(slices.Values(round))
			if !slices.Equal(sorted, c.inOrder) || len(files) != len(c.files) || !c.shuffle && !slices.Equal(round, c.inOrder) {
				t.Errorf("%s: a round %v", what, round)
			}
		}
		if c.shuffle && (len(rounds) < 3 || len(firsts) < 3) {
			t.Errorf("%s: rounds %v", what, all)
		}
		for position := 0; position < len(all); position += 3 {
			if err := r.Seek(uint64(position)); err != nil {
				t.Fatal(err)
			}
			if at, id := r.Position(), next(r); at != uint64(position) || id != all[position] || r.Position() != at+1 {
				t.Errorf("%s: Seek(%d): position %d, row %v, want %v", what, position, at, id, all[position])
			}
		}
	}
}

// TestSeekReadsNoRounds: a position far on costs no more files than one in the second round.
func TestSeekReadsNoRounds(t *testing.T) {
	dir := t.TempDir()
	file, list := filepath.Join(dir, "x.h5"), filepath.Join(dir, "list.txt")
	if err := Write(file, &File{Floats: []Dataset{{Path: "/data", Shape: []int{3}, Data: []float32{0, 1, 2}}}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, []byte(file+"\n"+file), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRows(list, []string{"data"}, false, 1)
	if err != nil {
		t.Fatal(err)
	}
	row := []float32{-1}
	if err := r.Seek(6e15 + 4); err != nil {
		t.Fatal(err)
	}
	if err := r.Next([][]float32{row}); err != nil || row[0] != 1 || r.Position() != 6e15+5 {
		t.Errorf("row %v at position %d, error %v", row, r.Position(), err)
	}
}
