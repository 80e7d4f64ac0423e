package solver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestSnapshotNeedsAllWorkers: if a worker cannot write its own part of a snapshot, the error names the file, and no .solverstate is
// written, during a run of iterations or after it.
func TestSnapshotNeedsAllWorkers(t *testing.T) {
	for _, strategy := range []string{"easgd", "sync_easgd1", "sync_easgd3", "decentralised_easgd"} {
		for _, during := range []bool{true, false} {
			for blocked := range 3 {
				c := crew{workers: 3, dir: t.TempDir(), text: noisyNet, team: Team{Strategy: strategy, Tau: 2}}
				if during {
					c.text += "snapshot: 4"
				}
				own := fmt.Sprint("s_iter_4.worker_", blocked)
				if err := os.Mkdir(filepath.Join(c.dir, own), 0o755); err != nil {
					t.Fatal(err)
				}
				err := c.run(t, func(rank int, s *Solver) error {
					if during {
						return s.Step(6)
					}
					return errors.Join(s.Step(4), s.Snapshot())
				})
				if err == nil || !strings.Contains(err.Error(), own) {
					t.Errorf("%s, during %t: error %v, want one about %s", strategy, during, err, own)
				}
				if states, _ := filepath.Glob(filepath.Join(c.dir, "*.solverstate")); len(states) > 0 {
					t.Errorf("%s, during %t, without %s: there is %q", strategy, during, own, states)
				}
			}
		}
	}
}

// TestSnapshotsByAction: with a deterministic strategy all workers write a snapshot requested of one, and all stop after the same
// iteration.
func TestSnapshotsByAction(t *testing.T) {
	for _, strategy := range []string{"easgd", "sync_easgd2", "decentralised_easgd"} {
		for asked := range 3 {
			c := crew{workers: 3, dir: t.TempDir(), team: Team{Strategy: strategy, Tau: 2}}
			c.text = strings.Replace(noisyNet, "snapshot_after_train: false", "max_iter: 1000", 1)
			c.options = func(rank int, o *Options) {
				polls := 0
				o.Action = func() Action {
					if polls++; rank == asked && polls <= 4 {
						return []Action{None, Snapshot, None, Stop}[polls-1]
					}
					return None
				}
			}
			var mu sync.Mutex
			var stopped []int
			if err := c.run(t, func(rank int, s *Solver) error {
				err := s.Solve()
				mu.Lock()
				defer mu.Unlock()
				stopped = append(stopped, s.Iter())
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if len(slices.Compact(slices.Clone(stopped))) != 1 || stopped[0] == 1000 {
				t.Errorf("%s: the workers stop at iterations %v", strategy, stopped)
			}
			states, _ := filepath.Glob(filepath.Join(c.dir, "*.solverstate"))
			owns, _ := filepath.Glob(filepath.Join(c.dir, "*.worker_*"))
			if len(states) != 2 || len(owns) != 6 {
				t.Errorf("%s: states %q, want those of the snapshot and of the stop; workers' files %q", strategy, states, owns)
			}
		}
	}
}
