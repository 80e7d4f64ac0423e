package solver

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

var errKilled = errors.New("killed")

// mortal is a pair in a folder, whose files contain the names of their iterations. Its steps fail after some of them, as those of a process
// that is killed.
type mortal struct {
	pair
	dir  string
	left int // steps
}

func newMortal(dir string, steps int) *mortal {
	m := &mortal{dir: dir, left: steps}
	at := func(name string) string { return filepath.Join(dir, name) }
	m.pair = pair{
		at("w"), at("s"), at("w_new"), at("s_new"),
		func(path string) error { return m.step(func() error { return os.Remove(path) }) },
		func(from, to string) error { return m.step(func() error { return os.Rename(from, to) }) },
	}
	return m
}

func (m *mortal) step(work func() error) error {
	if m.left == 0 {
		return errKilled
	}
	m.left--
	return work()
}

// succeed does what a run does for a new best value.
func (m *mortal) succeed() error {
	write := func(path string) error {
		return m.step(func() error { return os.WriteFile(path, []byte("new"), 0o666) })
	}
	for _, step := range []func() error{m.settle, func() error { return write(m.newWeights) }, func() error { return write(m.newState) }, m.settle} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// read returns a file's contents, "" if it is not there.
func (m *mortal) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(m.dir, name))
	return string(text)
}

// TestBestPairSurvivesKills: a run that is killed before any step leaves a complete pair, of one iteration, and the next run finishes: it
// has the new pair if its state was written, and the old one otherwise.
func TestBestPairSurvivesKills(t *testing.T) {
	for _, old := range []string{"", "old"} { // what the older pair contains; "": there is none
		for step := range 9 {
			m := newMortal(t.TempDir(), step)
			for _, path := range []string{m.weights, m.state} {
				if err := os.WriteFile(path, []byte(old), 0o666); err != nil || old == "" && os.Remove(path) != nil {
					t.Fatal(err)
				}
			}
			err := m.succeed()
			w, s, w2, s2 := m.read("w"), m.read("s"), m.read("w_new"), m.read("s_new")
			complete := w != "" && w == s || s2 == "new" && (w2 == "new" || w == "new")
			if !complete && !(old == "" && step < 3) || s != "" && w != s || (err == nil) != (step >= 6) {
				t.Errorf("older %q, killed at step %d (%v): weights %q, state %q, new weights %q, new state %q", old, step, err, w, s, w2, s2)
			}
			want := old
			if s2 == "new" || s == "new" {
				want = "new"
			}
			if err := newMortal(m.dir, 99).settle(); err != nil {
				t.Fatal(err)
			}
			if w, s := m.read("w"), m.read("s"); w != want || s != want || m.read("w_new")+m.read("s_new") != "" {
				t.Errorf("older %q, killed at step %d, next run: weights %q, state %q, want %q", old, step, w, s, want)
			}
		}
	}
}
