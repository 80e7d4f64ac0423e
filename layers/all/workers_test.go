package all_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// TestWorkers trains a net with the layer of each case by one worker, and by several workers and core groups that divide its batches. The weights
// must be equal up to rounding, or the net is refused with the layer and the reason, or the log says that results differ. A run that is stopped
// and resumed has the bits of one that is not. The first case of a type is trained by 2, 3 and 5 of them, the others by 2 workers.
func TestWorkers(t *testing.T) {
	bench := layertest.NewBench(t)
	trainable, seen := map[string]bool{}, map[string]int{}
	for i := range cases {
		c := cases[i]
		if c.Feed != nil {
			continue
		}
		if seen[c.Type]++; seen[c.Type] > 1 && (testing.Short() || racing.Detector) {
			continue
		}
		if n, ok := newShared(t, bench, &c); ok {
			n.first = !trainable[c.Type]
			trainable[c.Type] = true
			t.Run(c.String(), n.check)
		}
	}
	for _, typ := range layers.Types() {
		if !trainable[typ.Name] && typ.Bottoms.Max != 0 {
			t.Errorf("%s: no case is a net that can be trained", typ.Name)
		}
	}
}

// shared is a net with the layer of a case, trained by workers.
type shared struct {
	c     *layertest.Case
	typ   layers.Type
	kind  layers.CouplingKind
	items int  // of a batch; 0 if the layer itself hands them out
	first bool // of the type's cases
	text  string
	dir   string
}

// most is the batch that cases are enlarged to, where their bottoms permit it.
const most = 6

// newShared returns the net of a case. Its bottoms are stored in HDF5 files; a layer with one weight, a summand, stands before each that has a
// gradient. Tops that have items go through an InnerProduct layer to a loss.
func newShared(t *testing.T, b *layertest.Bench, c *layertest.Case) (n *shared, ok bool) {
	if c.Files != nil {
		c.Param += " " + c.Files(t)
	}
	f, err := layertest.New(b.Device(layers.CPE), c)
	if err != nil {
		t.Errorf("%s: %v", c, err)
		return nil, false
	}
	if larger, g := layertest.Enlarge(b.Device(layers.CPE), c, most); g != nil && len(c.Bottoms) > 0 {
		f, c = g, larger
	}
	if _, hands := f.Layer.(layers.Sharer); len(f.Bottom) == 0 && !hands {
		return nil, false // it has no items
	}
	n = &shared{c: c, typ: f.Type, dir: t.TempDir()}
	var text strings.Builder
	var bottoms []string
	var shapes [][]int
	for i, b := range f.Bottom {
		if b.NumAxes() == 0 {
			return nil, false
		}
		name, path := fmt.Sprint("b", i), filepath.Join(n.dir, fmt.Sprint("b", i))
		if err := hdf5.Write(path+".h5", &hdf5.File{Floats: []hdf5.Dataset{{Path: "/" + name, Shape: b.Shape(), Data: b.Data()}}}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".txt", []byte(path+".h5\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "layer { name: 'data%d' type: 'HDF5Data' top: %q hdf5_data_param { source: %q batch_size: %d } }\n", i, name, path+".txt", b.Dim(0))
		if !c.Bottoms[i].NoGradient && !f.Type.NoGradient {
			fmt.Fprintf(&text, "layer { name: 'shift%d' type: 'Bias' bottom: %q top: 's%d' bias_param { axis: 0 num_axes: 0 } }\n", i, name, i)
			name = fmt.Sprint("s", i)
		}
		bottoms, shapes = append(bottoms, fmt.Sprintf("bottom: %q", name)), append(shapes, b.Shape())
		if i == 0 {
			n.items = b.Dim(0)
		}
	}
	n.kind = f.Type.Coupling(f.Param, shapes).Kind
	var tops []string
	for k := range f.Top {
		name := fmt.Sprint("t", k)
		if c.Type == "HDF5Data" {
			name = []string{"data", "label"}[k]
		}
		if k == 0 && c.InPlace {
			name = strings.Trim(strings.TrimPrefix(bottoms[0], "bottom: "), `"`)
		}
		tops = append(tops, name)
	}
	if c.InPlace && strings.HasPrefix(tops[0], "b") {
		return nil, false // a layer in place on data without a gradient
	}
	fmt.Fprintf(&text, "layer { name: 'it' type: %q %s", c.Type, strings.Join(bottoms, " "))
	for _, top := range tops {
		if !strings.Contains(c.Param, "top: ") { // HDF5Data's have the names of datasets
			fmt.Fprintf(&text, " top: %q", top)
		}
	}
	fmt.Fprintf(&text, " %s }\n", c.Param)
	for k, top := range f.Top {
		switch {
		case f.Type.Loss && k == 0:
		case top.NumAxes() > 0 && top.Dim(0) > 1 && (len(f.Bottom) == 0 || top.Dim(0) == f.Bottom[0].Dim(0)) && top.Count() > 0:
			fmt.Fprintf(&text, `layer { name: 'flat%[1]d' type: 'Reshape' bottom: %[2]q top: 'f%[1]d' reshape_param { shape { dim: 0 dim: -1 } } }
layer { name: 'ip%[1]d' type: 'InnerProduct' bottom: 'f%[1]d' top: 'y%[1]d' inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } }
layer { name: 'goal%[1]d' type: 'DummyData' top: 'g%[1]d' dummy_data_param { shape { dim: %[3]d dim: 2 } data_filler { value: 0.5 } } }
layer { name: 'loss%[1]d' type: 'EuclideanLoss' bottom: 'y%[1]d' bottom: 'g%[1]d' top: 'l%[1]d' }
`, k, tops[k], top.Dim(0))
		default:
			fmt.Fprintf(&text, "layer { name: 'silence%[1]d' type: 'Silence' bottom: %[2]q }\n", k, tops[k])
		}
	}
	if n.text = text.String(); !strings.Contains(n.text, "'Bias'") && !strings.Contains(n.text, "'InnerProduct'") && len(f.Layer.Params()) == 0 {
		n.text += fmt.Sprintf(`layer { name: 'flat' type: 'Reshape' bottom: 'b0' top: 'flat' reshape_param { shape { dim: 0 dim: -1 } } }
layer { name: 'ip' type: 'InnerProduct' bottom: 'flat' top: 'y' inner_product_param { num_output: 1 weight_filler { type: 'xavier' } } }
layer { name: 'goal' type: 'DummyData' top: 'goal' dummy_data_param { shape { dim: %d dim: 1 } data_filler { value: 0.5 } } }
layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 'goal' top: 'loss' }
`, n.items)
	}
	return n, true
}

// trained is what the first worker has after a training.
type trained struct {
	weights []float32
	log     string
	err     error
}

// train trains with a number of workers, each of some core groups, and returns the first one's outcome. Between the iterations before and those
// after it, it goes through a snapshot.
func (n *shared) train(t *testing.T, workers, groups, before, after int) (out trained) {
	work := func(tr topology.Transport) error {
		var log strings.Builder
		o := solver.Options{Log: logrus.New(), Parts: workers}
		o.Log.SetOutput(io.Discard)
		if tr == nil || tr.Rank() == 0 {
			o.Log.SetOutput(&log)
			o.Log.SetLevel(logrus.WarnLevel)
		}
		if tr != nil {
			o.Team = &solver.Team{Transport: tr, Strategy: solver.Sync, CheckEvery: 1, NewReducer: func(n int, tree bool) solver.Reducer {
				algorithm := map[bool]string{true: "binomial_tree", false: "halving_doubling"}[tree]
				return topology.NewAllReduce(tr, topology.NewSchedule(algorithm, topology.Flat(tr.Size()), n))
			}}
		}
		spec, err := cpe.Load("host")
		if err != nil {
			return err
		}
		spec.CoreGroups = 1
		for i := range groups {
			m, err := cpe.New(spec, cpe.DefaultMode(spec))
			if err != nil {
				return err
			}
			defer m.Close()
			if i == 0 {
				o.Machine = m
			} else {
				o.CoreGroups = append(o.CoreGroups, m)
			}
		}
		p := &caffepb.SolverParameter{}
		if _, err := swproto.UnmarshalText("s.prototxt", []byte("net_param {\n"+n.text+"} base_lr: 0.001 momentum: 0.9 lr_policy: 'fixed' max_iter: 9 random_seed: 3 snapshot_prefix: '"+filepath.Join(n.dir, "s")+"'"), p); err != nil {
			return err
		}
		var s *solver.Solver
		for part, iterations := range []int{before, after} {
			if iterations == 0 {
				continue
			}
			if s, err = solver.New(&swproto.Solver{Param: p, Path: filepath.Join(n.dir, "s.prototxt")}, o); err != nil {
				return err
			}
			if part > 0 {
				err = s.Restore(filepath.Join(n.dir, fmt.Sprintf("s_iter_%d.solverstate", before)))
			}
			if err == nil {
				err = s.Step(iterations)
			}
			if err == nil && part == 0 && after > 0 {
				err = s.Snapshot()
			}
			if tr == nil || tr.Rank() == 0 {
				out.weights = nil
				for _, w := range s.Net().Learnable() {
					out.weights = append(out.weights, w.Blob.Data()...)
				}
				out.weights = append(out.weights, float32(s.LastLoss()))
			}
			if err = errors.Join(err, s.Close()); err != nil {
				return err
			}
		}
		if tr == nil || tr.Rank() == 0 {
			out.log = log.String()
		}
		return nil
	}
	if workers == 1 {
		out.err = work(nil)
	} else {
		out.err = topology.NewLocal(workers).Run(work)
	}
	return out
}

const iterations = 4

// check compares workers and core groups with one worker.
func (n *shared) check(t *testing.T) {
	one := n.train(t, 1, 1, iterations, 0)
	if one.err != nil {
		t.Errorf("one worker: %v\n%s", one.err, n.text)
		return
	}
	if slices.ContainsFunc(one.weights, func(v float32) bool { return v != v || math.IsInf(float64(v), 0) }) {
		t.Skip("the net diverges, as one that divides by a statistic of 0 does")
	}
	n.resume(t, 1, 1, one)
	all := [][2]int{{2, 1}, {1, 2}, {3, 1}, {1, 3}, {5, 1}, {1, 5}}
	if !n.first {
		all = all[:1]
	}
	for _, w := range all {
		got := n.train(t, w[0], w[1], iterations, 0)
		if !n.right(got, one) {
			t.Errorf("%d workers of %d core groups: other weights than one worker's, and nothing is said; error %v; coupling %v\n%s%s", w[0], w[1], got.err, n.kind, got.log, n.text)
		} else if got.err == nil && w[0]*w[1] == 2 {
			n.resume(t, w[0], w[1], got)
		}
	}
}

// resume stops the training in the middle, and compares the resumed one's outcome with that of one that was not stopped.
func (n *shared) resume(t *testing.T, workers, groups int, want trained) {
	t.Helper()
	if got := n.train(t, workers, groups, iterations/2, iterations/2); got.err != nil || !sameValues(got.weights, want.weights, 0) {
		t.Errorf("%d workers of %d core groups, resumed: other weights than without a stop; error %v\n%s", workers, groups, got.err, n.text)
	}
}

// right reports whether an outcome is that of one worker, a refusal, or a stated difference.
func (n *shared) right(got, one trained) bool {
	switch {
	case got.err != nil && strings.Contains(got.err.Error(), "would train another net"):
		return true
	case got.err != nil && (strings.Contains(got.err.Error(), "too small to split") || strings.Contains(got.err.Error(), "different fractions of their batches")):
		return true
	case got.err != nil:
		return false
	case sameValues(got.weights, one.weights, 1e-4):
		return true
	case strings.Contains(got.log, "as all of type "+n.c.Type+", ") && strings.Contains(got.log, "results differ from those of one worker"):
		return true
	}
	return false
}

func sameValues(got, want []float32, tolerance float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i, v := range got {
		if d := math.Abs(float64(v) - float64(want[i])); !(d <= tolerance*(1+math.Abs(float64(want[i])))) {
			return false
		}
	}
	return true
}
