package testreport

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadLabels: a name a line, or a LabelMap in any order, whose gaps have their numbers.
func TestReadLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels")
	for _, c := range []struct{ text, want string }{
		{"cat\r\nbig dog\n\nbird\n\n", "cat|big dog||bird"},
		{"item\nin the box", "item|in the box"},
		{"item { name: 'n3' label: 3 display_name: 'three' }\nitem { name: 'one' label: 1 }\n", "0|one|2|three"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadLabels(path); err != nil || strings.Join(got, "|") != c.want {
			t.Errorf("%q: %q, %v, want %s", c.text, got, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"\n \n":                   "the file has no labels",
		"item { label: -1 }":      "label -1 is not between",
		"item { label: 9999999 }": "label 9999999 is not between",
		"item { lable: 1 }":       "lable",
		"item { name: 'a' label: 2 } item { name: 'b' label: 2 }": `two classes, "a" and "b", have the label 2`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadLabels(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestBesides: the set's own names come before those of the folder.
func TestBesides(t *testing.T) {
	for source, want := range map[string][]string{
		"data/shapes_train_lmdb":     {"data/shapes_labels.txt", "data/shapes_labelmap.prototxt", "data/labels.txt", "data/labelmap.prototxt"},
		"d/my_set_test.txt":          {"d/my_set_labels.txt", "d/my_set_labelmap.prototxt", "d/labels.txt", "d/labelmap.prototxt"},
		"pets/train_lmdb":            {"pets/labels.txt", "pets/labelmap.prototxt"},
		"/data/VOC_trainval_lmdb":    {"/data/labels.txt", "/data/labelmap.prototxt"},
		"objects_val":                {"objects_labels.txt", "objects_labelmap.prototxt", "labels.txt", "labelmap.prototxt"},
		"data/scenes_test_classes_x": {"data/scenes_labels.txt", "data/scenes_labelmap.prototxt", "data/labels.txt", "data/labelmap.prototxt"},
	} {
		if got := besides(source); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}
