package solver

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/layers"
)

// testedLenet is lenet with two tests, of 5 and 4 batches of 7 images, before each of three iterations that leave the weights as they are.
func testedLenet(t *testing.T) string {
	dir := t.TempDir()
	text := lenet(t, dir, 40, 12)
	file := dir + "/net.prototxt"
	net, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tested := strings.NewReplacer("data/digits_test_lmdb", dir+"/digits", "batch_size: 100", "batch_size: 7").Replace(string(net))
	if err := os.WriteFile(file, []byte(tested), 0o644); err != nil {
		t.Fatal(err)
	}
	text = strings.Replace(text, "base_lr: 0.01", "base_lr: 0", 1)
	return text + fmt.Sprintf("test_net: %q test_net: %q test_iter: 5 test_iter: 4 test_interval: 1 max_iter: 3", file, file)
}

// TestWorkersTestTogether: workers that run a test's batches in turn find what one finds, to the last digit, in this test and in the next
// ones, whether or not they divide its batches; the data is then where one leaves it.
func TestWorkersTestTogether(t *testing.T) {
	text := testedLenet(t)
	tests := func(workers int) (lines []string, positions []uint64) {
		var log bytes.Buffer
		c := crew{workers: workers, text: text, options: func(rank int, o *Options) {
			if rank == 0 {
				o.Log = logrus.New()
				o.Log.SetOutput(&log)
			}
		}}
		if err := c.run(t, func(rank int, s *Solver) error {
			if err := s.Solve(); err != nil {
				return err
			}
			for i, n := range s.TestNets() {
				p := n.Layer(0).(layers.Positioner)
				if rank == 0 {
					positions = append(positions, p.Position())
				} else if want := uint64(4 * 7 * []int{5, 4}[i]); p.Position() != want {
					t.Errorf("rank %d of %d: test %d reads on at %d, want %d", rank, workers, i, p.Position(), want)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(log.String()) {
			if _, found, ok := strings.Cut(line, "Test net output"); ok {
				lines = append(lines, found)
			}
		}
		return lines, positions
	}
	want, at := tests(0)
	if len(want) != 4*2*2 || want[1] == want[5] {
		t.Fatalf("%d lines, want those of 4 times 2 tests, which differ: %q", len(want), want)
	}
	for _, workers := range []int{1, 2, 3, 4, 6} {
		got, after := tests(workers)
		if !slices.Equal(got, want) || !slices.Equal(after, at) {
			t.Errorf("%d workers read on at %v and find\n%q, want %v and\n%q", workers, after, got, at, want)
		}
	}
}

// TestSignalEndsTestOfAll: what one worker is asked while all test ends the test of all, and all stop after the same iteration.
func TestSignalEndsTestOfAll(t *testing.T) {
	text := testedLenet(t)
	for _, asked := range []int{0, 2} {
		for _, poll := range []int{1, 3, 4} {
			polls := 0
			c := crew{workers: 3, text: text, options: func(rank int, o *Options) {
				if rank == asked {
					o.Action = func() Action {
						if polls++; polls == poll {
							return Stop
						}
						return None
					}
				}
			}}
			if err := c.run(t, func(rank int, s *Solver) error {
				err := s.Step(3)
				if s.Iter() != 1 {
					t.Errorf("rank %d, signal at poll %d of rank %d: stopped after %d iterations, want 1", rank, poll, asked, s.Iter())
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		}
	}
}
