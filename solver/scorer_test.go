package solver

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	"github.com/swcaffe/swcaffe/layers"
)

// testedLenet returns a lenet with two tests, of 5 and 4 batches of 7 images, before each of three iterations that do not change the
// weights.
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

// TestWorkersTestTogether: workers that share a test's batches get the scores of a single worker to the last digit, in successive tests and
// for any number of batches. Afterwards the data is at the same position.
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
	for _, workers := range racing.Few([]int{1, 2, 3, 4, 6}) {
		got, after := tests(workers)
		if !slices.Equal(got, want) || !slices.Equal(after, at) {
			t.Errorf("%d workers read on at %v and find\n%q, want %v and\n%q", workers, after, got, at, want)
		}
	}
}

// TestWorkersComputeWhatCounts: no worker runs batches after the last of a test. Here these are invalid, so that running one fails.
func TestWorkersComputeWhatCounts(t *testing.T) {
	const rows, good = 12, 5
	dir := t.TempDir()
	write := func(name string, label func(row int) float32) string {
		x, labels := make([]float32, 2*rows), make([]float32, rows)
		for i := range labels {
			x[2*i], x[2*i+1], labels[i] = float32(i), 1, label(i)
		}
		err := hdf5.Write(filepath.Join(dir, name), &hdf5.File{Floats: []hdf5.Dataset{
			{Path: "/x", Shape: []int{rows, 2}, Data: x}, {Path: "/label", Shape: []int{rows}, Data: labels}}})
		if err != nil {
			t.Fatal(err)
		}
		list := filepath.Join(dir, name+".txt")
		if err := os.WriteFile(list, []byte(filepath.Join(dir, name)), 0o644); err != nil {
			t.Fatal(err)
		}
		return list
	}
	train := write("train.h5", func(int) float32 { return 1 })
	test := write("test.h5", func(row int) float32 {
		if row < good {
			return 0
		}
		return 99
	})
	text := fmt.Sprintf(`net_param {
		layer { name: "x" type: "HDF5Data" top: "x" top: "label" hdf5_data_param { source: %q batch_size: 12 } include { phase: TRAIN } }
		layer { name: "x" type: "HDF5Data" top: "x" top: "label" hdf5_data_param { source: %q batch_size: 1 } include { phase: TEST } }
		layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 } }
		layer { name: "l" type: "SoftmaxWithLoss" bottom: "y" bottom: "label" top: "l" } }
		base_lr: 0 lr_policy: "fixed" max_iter: 1 test_iter: %d test_interval: 2 snapshot_after_train: false`, train, test, good)
	for _, workers := range []int{0, 2, 3, 4, 7} {
		c := crew{workers: workers, text: text}
		if err := c.run(t, func(_ int, s *Solver) error {
			if err := s.Solve(); err != nil {
				return err
			}
			if at := s.TestNets()[0].Layer(0).(layers.Positioner).Position(); at != good {
				t.Errorf("%d workers read on at %d, want %d", workers, at, good)
			}
			return nil
		}); err != nil {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// TestSignalEndsTestOfAll: a stop requested of one worker during a test ends the test on all, and all stop after the same iteration.
func TestSignalEndsTestOfAll(t *testing.T) {
	text := testedLenet(t)
	for _, asked := range []int{0, 2} {
		for _, poll := range []int{1, 3, 4} {
			if racing.Detector && poll != 3+asked/2 {
				continue // one poll of each rank
			}
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
