package hdf5

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
}
