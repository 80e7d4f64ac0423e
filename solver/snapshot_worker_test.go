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

// TestSnapshotsByActionApart: where workers are served as they come, they are at iterations of their own when a snapshot is asked for. It is the first worker's alone, and
// no other one leaves a file that belongs to no snapshot. Planned snapshots have all workers' states.
func TestSnapshotsByActionApart(t *testing.T) {
	for _, strategy := range []string{"async_easgd", "hogwild_easgd"} {
		for _, every := range []int{0, 5} {
			c := crew{workers: 3, dir: t.TempDir(), team: Team{Strategy: strategy}}
			c.text = strings.Replace(noisyNet, "snapshot_after_train: false", fmt.Sprintf("max_iter: 1000 snapshot: %d", every), 1)
			c.options = func(rank int, o *Options) {
				polls := 0
				o.Action = func() Action {
					polls++
					return map[int]Action{2 + rank: Snapshot, 40 + rank: Stop}[polls]
				}
			}
			if err := c.run(t, func(_ int, s *Solver) error { return s.Solve() }); err != nil {
				t.Fatal(err)
			}
			owns, _ := filepath.Glob(filepath.Join(c.dir, "*.worker_*"))
			for _, own := range owns {
				var iter, rank int
				if _, err := fmt.Sscanf(filepath.Base(own), "s_iter_%d.worker_%d", &iter, &rank); err != nil || every == 0 || iter%every != 0 {
					t.Errorf("%s, snapshot: %d: there is %s", strategy, every, own)
				}
			}
			states, _ := filepath.Glob(filepath.Join(c.dir, "*.solverstate"))
			if len(states) == 0 || every > 0 && len(owns) < 3 {
				t.Errorf("%s, snapshot: %d: states %q, workers' files %q", strategy, every, states, owns)
			}
		}
	}
}
