package regular

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPaths: a line is cut at blanks, unless only other cuts give files.
func TestPaths(t *testing.T) {
	root := t.TempDir() + "/"
	for _, name := range []string{"a", "b", "a b", "my file.h5", "my other  file.h5", "x", "x y", "y", "z w", "12"} {
		if err := os.WriteFile(root+name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		line   string
		wanted int
		want   string // separated by |
	}{
		{"a", 1, "a"},
		{" a\tb ", 1, "a|b"},            // all words are files
		{"none", 1, "none"},             // the caller says what is missing
		{"my file.h5", 1, "my file.h5"}, // the whole line
		{"\tmy other  file.h5\r", 1, "my other  file.h5"},
		{"my file.h5 my other  file.h5", 2, "my file.h5|my other  file.h5"},
		{"my other file.h5", 1, "my|other|file.h5"}, // one blank where the name has two
		{"my file.h5", 2, "my|file.h5"},             // as many words as wanted
		{"a b my file.h5", 2, "a|b|my|file.h5"},     // two ways
		{"a my file.h5 12", 1, "a|my file.h5|12"},
		{"x y z w", 2, "x|y|z|w"}, // x y|z w and x|y|z w
		{"my none.h5", 1, "my|none.h5"},
		{strings.Repeat("a ", 100) + "c", 1, strings.Repeat("a|", 100) + "c"},
		{strings.Repeat("q ", 60), 1, strings.TrimSuffix(strings.Repeat("q|", 60), "|")},
	} {
		if got := Paths(root, c.line, c.wanted); !slices.Equal(got, strings.Split(c.want, "|")) {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// TestByteOrderMark: a mark in UTF-8 is not part of a text; UTF-16 is an error that says so.
func TestByteOrderMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.txt")
	for content, want := range map[string]string{"\xef\xbb\xbfa b\n": "a b\n", "\xef\xbb\xbf": "", "\xef\xbb": "\xef\xbb", "a": "a", "": ""} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := OpenText(path)
		if err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		opened, err := io.ReadAll(f)
		f.Close()
		read, err2 := ReadText(path, 100)
		if err != nil || err2 != nil || string(opened) != want || string(read) != want {
			t.Errorf("%q: %q and %q, errors %v, %v; want %q", content, opened, read, err, err2, want)
		}
	}
	for _, content := range []string{"\xff\xfea\x00", "\xfe\xff\x00a"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadText(path, 100); err == nil || !strings.Contains(err.Error(), path+": it is text in UTF-16; save it as UTF-8") {
			t.Errorf("%q: error %v", content, err)
		}
	}
}
