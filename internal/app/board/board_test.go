package board

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/solver/events"
)

func line(t *testing.T, b events.Body) string {
	t.Helper()
	text, err := events.Line(events.Event{Time: time.Unix(0, 0), Body: b})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// seen lists the runs with the last iteration of each.
func seen(t *testing.T, b *Board) string {
	t.Helper()
	if err := b.Scan(); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, r := range b.Runs() {
		last := -1
		_, parts := r.History.News(map[string]events.Place{})
		for _, p := range parts {
			last = p.Steps[len(p.Steps)-1]
		}
		list = append(list, fmt.Sprint(r.Name, " ", last))
	}
	return strings.Join(list, ", ")
}

// TestFollow: files are found in subfolders, followed line by line, and read anew after they were cut.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	b, err := New([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	a, sub := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "x", "b.json")
	write(t, filepath.Join(dir, "notes.log"), "no events\n{\"a\": 1}\n")
	write(t, filepath.Join(dir, "c.txt"), line(t, &events.Iteration{Iteration: 9}))
	first := line(t, &events.Iteration{Iteration: 0})
	write(t, a, line(t, &events.Started{})+first[:20])
	for _, step := range []struct {
		path, text, want string
	}{
		{a, first[20:], "a 0"},
		{a, line(t, &events.Iteration{Iteration: 1})[:30], "a 0"},
		{sub, "junk\n" + line(t, &events.Iteration{Iteration: 5}), "a 0, x/b 5"},
		{a, "cut\n" + line(t, &events.Iteration{Iteration: 2}), "a 2, x/b 5"},
	} {
		write(t, step.path, step.text)
		if got := seen(t, b); got != step.want {
			t.Errorf("after %q: %s, want %s", step.text, got, step.want)
		}
	}
	before := b.Runs()[0].History
	if seen(t, b); b.Runs()[0].History != before {
		t.Error("a run that only grows has a new history")
	}
	if err := os.WriteFile(a, []byte(line(t, &events.Iteration{Iteration: 7})), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := seen(t, b); got != "a 7, x/b 5" || b.Runs()[0].History == before {
		t.Errorf("after a cut: %s", got)
	}
	if err := os.Remove(sub); err != nil {
		t.Fatal(err)
	}
	if got := seen(t, b); got != "a 7, x/b 5" {
		t.Errorf("a removed file's run is gone: %s", got)
	}
}

// TestRoots: files of any name can be given, and the runs of several folders have their names.
func TestRoots(t *testing.T) {
	dir := t.TempDir()
	text := line(t, &events.Iteration{Iteration: 3})
	for _, path := range []string{"p/e.jsonl", "q/e.jsonl", "events.txt"} {
		write(t, filepath.Join(dir, path), text)
	}
	b, err := New([]string{filepath.Join(dir, "p"), filepath.Join(dir, "q"), filepath.Join(dir, "events.txt")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := seen(t, b), "events 3, p/e 3, q/e 3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := New([]string{filepath.Join(dir, "none")}); err == nil {
		t.Error("a folder that does not exist is taken")
	}
	linked := filepath.Join(dir, "linked")
	if err := os.Symlink("p", linked); err != nil {
		t.Skip(err)
	}
	if b, err = New([]string{linked}); err != nil {
		t.Fatal(err)
	}
	if got, want := seen(t, b), "e 3"; got != want {
		t.Errorf("behind a link to a folder: %q, want %q", got, want)
	}
}
