package proto

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExcerpts: the line and the caret of errors, in testdata/excerpts.txt. The input's first line is the message, in which FILE
// is the file with the other lines.
func TestExcerpts(t *testing.T) {
	checkSections(t, "testdata/excerpts.txt", func(t *testing.T, c section) string {
		message, text, _ := strings.Cut(c.input, "\n")
		path := filepath.Join(t.TempDir(), "f.prototxt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		x, ok := ExcerptOf(strings.ReplaceAll(message, "FILE", path))
		if !ok {
			return "none\n"
		}
		return strings.ReplaceAll(x.Place()+": "+x.Message+"\n"+x.Source(func(s string) string { return s })+"\n", path, "FILE")
	})
}

// TestNoExcerpt: messages without a place, and files that are gone or binary, have no excerpt.
func TestNoExcerpt(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "b")
	if err := os.WriteFile(binary, []byte{0x0a, 0x03, 'a', 0, 'c'}, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{"", "a word", "nowhere.prototxt:3: layer", "nowhere.prototxt:3:4: x", binary + ":1: x", t.TempDir() + ":1: x"} {
		if x, ok := ExcerptOf(message); ok {
			t.Errorf("%q: %+v", message, x)
		}
	}
}

// TestLongLine: of a long line, the part around the fault is shown, and no letter is cut.
func TestLongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	text := strings.Repeat("é", 300) + " x: 1 " + strings.Repeat("é", 300)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	x, ok := ExcerptOf(path + ":1:602: fault")
	lines := strings.Split(x.Source(func(s string) string { return s }), "\n")
	if !ok || len(lines) != 2 || len(lines[0]) > 140 || strings.Contains(lines[0], "?") {
		t.Fatalf("%v %q", ok, lines)
	}
	at := strings.IndexByte(lines[1], '^')
	if r := []rune(lines[0]); at < 0 || at >= len(r) || r[at] != 'x' {
		t.Errorf("the caret is at %d of %q", at, lines)
	}
}
