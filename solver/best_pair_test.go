package solver

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestBestPairSurvivesKills: a run that is killed before any step leaves a complete pair, of one iteration, and the next run finishes: it
// has the new pair if its state was written, and the old one otherwise. Files contain the names of their iterations.
func TestBestPairSurvivesKills(t *testing.T) {
	killed := errors.New("killed")
	for _, first := range []bool{false, true} { // no older pair is there
		for step := 0; step < 9; step++ {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			read := func(name string) string {
				text, _ := os.ReadFile(at(name)) // "": not there
				return string(text)
			}
			left := step
			alive := func(work func() error) error {
				if left == 0 {
					return killed
				}
				left--
				return work()
			}
			p := pair{
				at("w"), at("s"), at("w_new"), at("s_new"),
				func(path string) error { return alive(func() error { return os.Remove(path) }) },
				func(from, to string) error { return alive(func() error { return os.Rename(from, to) }) },
			}
			write := func(path, text string) error {
				return alive(func() error { return os.WriteFile(path, []byte(text), 0o666) })
			}
			if !first {
				for _, name := range []string{"w", "s"} {
					if err := os.WriteFile(at(name), []byte("old"), 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
			err := errors.Join(p.settle(), write(p.newWeights, "new"), write(p.newState, "new"))
			if err == nil {
				err = p.settle()
			}
			complete := read("w") != "" && read("w") == read("s")
			complete = complete || read("s_new") == "new" && (read("w_new") == "new" || read("w") == "new")
			if !complete && !(first && step < 3) {
				t.Errorf("killed at step %d (%v): weights %q, state %q, new weights %q, new state %q", step, err, read("w"), read("s"), read("w_new"), read("s_new"))
			}
			if read("s") != "" && read("w") != read("s") {
				t.Errorf("killed at step %d: weights %q beside state %q", step, read("w"), read("s"))
			}
			wrote := read("s_new") == "new" || read("s") == "new"
			p.remove, p.rename = os.Remove, os.Rename
			if err := p.settle(); err != nil {
				t.Fatal(err)
			}
			want := "old"
			if first {
				want = ""
			}
			if wrote {
				want = "new"
			}
			if read("w") != want || read("s") != want || read("w_new") != "" || read("s_new") != "" {
				t.Errorf("killed at step %d, next run: weights %q, state %q, want %q; new weights %q, new state %q", step, read("w"), read("s"), want, read("w_new"), read("s_new"))
			}
			if (err == nil) != (step >= 6) {
				t.Errorf("%d steps: %v", step, err)
			}
		}
	}
}
