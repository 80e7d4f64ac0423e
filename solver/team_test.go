package solver

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/data/digits"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/topology"
	"google.golang.org/protobuf/proto"
)

// crew describes the workers of a test.
type crew struct {
	workers, coreGroups int
	text                string
	dir                 string
	team                Team // without transport and reducer
	options             func(rank int, o *Options)
	solver              func(rank int, p *caffepb.SolverParameter)
}

// run calls work for every worker with its solver.
func (c crew) run(t *testing.T, work func(rank int, s *Solver) error) error {
	t.Helper()
	if c.dir == "" {
		c.dir = t.TempDir()
	}
	if c.workers == 0 {
		return c.worker(t, nil, work)
	}
	return topology.NewLocal(c.workers).Run(func(tr topology.Transport) error { return c.worker(t, tr, work) })
}

func (c crew) worker(t *testing.T, tr topology.Transport, work func(rank int, s *Solver) error) error {
	o, rank := Options{Log: layers.NoLog()}, 0
	if tr != nil {
		rank = tr.Rank()
		team := c.team
		team.Transport = tr
		team.NewReducer = func(n int, tree bool) Reducer {
			algorithm := map[bool]string{true: "binomial_tree", false: "halving_doubling"}[tree]
			return topology.NewAllReduce(tr, topology.NewSchedule(algorithm, topology.Flat(tr.Size()), n))
		}
		if team.Strategy == "" {
			team.Strategy = Sync
		}
		o.Team = &team
	}
	spec, err := cpe.Load("host")
	if err != nil {
		return err
	}
	spec.CoreGroups = max(1, spec.CoreGroups/(max(1, c.workers)*max(1, c.coreGroups))) // as train -workers divides them
	for i := range max(1, c.coreGroups) {
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
	if c.options != nil {
		c.options(rank, &o)
	}
	p := &caffepb.SolverParameter{}
	if _, err := swproto.UnmarshalText("s.prototxt", []byte(c.text), p); err != nil {
		return err
	}
	if c.solver != nil {
		c.solver(rank, p)
	}
	s, err := New(&swproto.Solver{Param: p, Path: filepath.Join(c.dir, "s.prototxt")}, o)
	if err != nil {
		return err
	}
	defer s.Close()
	return work(rank, s)
}

// trained returns the weights of every worker after n iterations, followed by the last loss and by the loss of one more forward pass.
func (c crew) trained(t *testing.T, n int) [][]float32 {
	t.Helper()
	all := make([][]float32, max(1, c.workers))
	if err := c.run(t, func(rank int, s *Solver) error {
		if err := s.Step(n); err != nil {
			return err
		}
		all[rank] = append(weights(s), float32(s.losses.values[0]))
		last, err := s.finalLoss()
		all[rank] = append(all[rank], float32(last))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for rank := range all {
		sameBits(t, fmt.Sprintf("rank %d of %d", rank, c.workers), all[rank], all[0])
	}
	return all
}

// near compares weights with an absolute tolerance.
func near(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	worst, at := 0.0, 0
	for i := range got {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= worst) {
			worst, at = d, i
		}
	}
	if !(worst <= tolerance) {
		t.Errorf("%s: weight %d is %g, want %g +- %g", what, at, got[at], want[at], tolerance)
	}
	t.Logf("%s: largest difference %.2g", what, worst)
}

// lenet returns the solver of a smooth LeNet on n rendered digits with the given batch size. Smooth, because at a ReLU or a maximum of
// nearly equal inputs a difference of 1e-7 could grow to 1e-3.
func lenet(t *testing.T, dir string, n, batch int) string {
	t.Helper()
	path := filepath.Join(dir, "digits")
	w, err := lmdb.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	r := digits.NewRenderer(1)
	for i := range n {
		var im digits.Image
		r.Render(uint64(i), &im)
		value, err := proto.Marshal(&caffepb.Datum{Channels: proto.Int32(1), Height: proto.Int32(28), Width: proto.Int32(28), Data: im.Pixels[:], Label: proto.Int32(int32(im.Label))})
		if err == nil {
			err = w.Put(fmt.Appendf(nil, "%08d", i), value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../models/lenet/train_val.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	net := strings.NewReplacer("MAX", "AVE", "ReLU", "TanH", "data/digits_train_lmdb", path, "batch_size: 64", fmt.Sprint("batch_size: ", batch)).Replace(string(text))
	file := filepath.Join(dir, "net.prototxt")
	if err := os.WriteFile(file, []byte(net), 0o644); err != nil {
		t.Fatal(err)
	}
	return `train_net: "` + file + `" base_lr: 0.01 momentum: 0.9 weight_decay: 0.0005 lr_policy: "inv" gamma: 0.0001 power: 0.75 random_seed: 1 snapshot_after_train: false `
}

// TestWorkersEqualOne: P workers that split a batch train the smooth LeNet like one worker on the whole batch. Gradient sums differ only in
// their order, by about 2^-24 of their values. After 50 iterations of rate 0.01 and momentum 0.9 weights differ by about 1e-7.
func TestWorkersEqualOne(t *testing.T) {
	const batch, tolerance = 12, 1e-6
	iterations, images := 50, 500
	if testing.Short() {
		iterations, images = 3, 50
	}
	text := lenet(t, t.TempDir(), images, batch)
	want := crew{text: text}.trained(t, iterations)[0]
	for _, workers := range []int{2, 3, 4} {
		c := crew{workers: workers, text: text, team: Team{CheckEvery: 10}}
		near(t, fmt.Sprint(workers, " workers"), c.trained(t, iterations)[0], want, tolerance)
	}
}

// unevenNet has random inputs, a Dropout layer and a weight shared by two layers.
const unevenNet = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 7 dim: 2 dim: 7 dim: 7 } shape { dim: 7 } data_filler { type: "gaussian" } data_filler { type: "uniform" max: 0.999 } } }
  layer { name: "conv" type: "Convolution" bottom: "x" top: "c" param { name: "w" } param { name: "b" } convolution_param { num_output: 2 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
  layer { name: "relu" type: "ReLU" bottom: "c" top: "c" }
  layer { name: "again" type: "Convolution" bottom: "c" top: "d" param { name: "w" } param { name: "b" } convolution_param { num_output: 2 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "d" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
  layer { name: "frozen" type: "InnerProduct" bottom: "y" top: "z" param { lr_mult: 0 } param { lr_mult: 0 } inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "z" bottom: "t" top: "loss" }
}
base_lr: 0.05 momentum: 0.9 weight_decay: 0.001 lr_policy: "fixed" random_seed: 5 snapshot_after_train: false
`

// TestUnevenParts: parts of different sizes, buckets, core groups, iter_size and clipping do not change the result.
func TestUnevenParts(t *testing.T) {
	for _, fields := range racing.Few([]string{"", "iter_size: 3", "clip_gradients: 0.1", `type: "Adam" momentum2: 0.99 delta: 0.001`}) {
		text := unevenNet + fields
		iterations := racing.Iterations(12)
		want := crew{text: text}.trained(t, iterations)[0]
		for _, c := range []crew{
			{workers: 3}, {workers: 7}, {coreGroups: 4}, {workers: 2, coreGroups: 3},
			{workers: 3, team: Team{BucketBytes: 1}}, {workers: 2, coreGroups: 2, team: Team{BucketBytes: 100, CheckEvery: 1}},
		} {
			c.text = text
			near(t, fmt.Sprintf("%d workers of %d core groups, buckets of %d bytes, %s", c.workers, c.coreGroups, c.team.BucketBytes, fields),
				c.trained(t, iterations)[0], want, 1e-6)
		}
	}
}

const normNet = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 8 dim: 3 dim: 4 dim: 4 } shape { dim: 8 dim: 2 } data_filler { type: "gaussian" mean: 2 std: 3 } data_filler { type: "constant" value: 1 } } }
  layer { name: "bn" type: "BatchNorm" bottom: "x" top: "b" }
  layer { name: "ip" type: "InnerProduct" bottom: "b" top: "y" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }
}
base_lr: 0.01 lr_policy: "fixed" random_seed: 5 snapshot_after_train: false
`

// TestStatisticsAreAveraged: batch norm's running means are those of whole batches and equal on all workers, and so is the factor that
// counts batches, after the forward pass at the end of Solve too.
func TestStatisticsAreAveraged(t *testing.T) {
	statistics := func(c crew) []float32 {
		var means []float32
		c.text = normNet
		if err := c.run(t, func(rank int, s *Solver) error {
			err := s.Step(6)
			if err == nil {
				_, err = s.finalLoss()
			}
			if p := s.Net().Layer(1).Params(); rank == 0 {
				means = append(means, p[0].Data()...)
				means = append(means, p[2].Data()...)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return means
	}
	want := statistics(crew{})
	for _, c := range []crew{{workers: 2, team: Team{CheckEvery: 1}}, {workers: 4, team: Team{CheckEvery: 1}}, {coreGroups: 2}, {workers: 2, coreGroups: 2, team: Team{CheckEvery: 1}}} {
		near(t, fmt.Sprintf("%d workers of %d core groups", c.workers, c.coreGroups), statistics(c), want, 1e-5)
	}
}

// TestResumeWithOtherWorkers: a snapshot of three workers continues with one, two or three workers.
func TestResumeWithOtherWorkers(t *testing.T) {
	dir := t.TempDir()
	text := lenet(t, dir, 50, 12)
	part := racing.Iterations(5)
	want := crew{workers: 3, text: text, dir: dir}.trained(t, 2*part)[0]
	if err := (crew{workers: 3, text: text, dir: dir}).run(t, func(rank int, s *Solver) error {
		return errors.Join(s.Step(part), s.Snapshot())
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []crew{{}, {workers: 2}, {workers: 3}, {workers: 2, coreGroups: 2}} {
		c.text, c.dir = text, dir
		if err := c.run(t, func(rank int, s *Solver) error {
			if err := s.Restore(filepath.Join(dir, fmt.Sprintf("s_iter_%d.solverstate", part))); err != nil {
				return err
			}
			if err := s.Step(part); err != nil {
				return err
			}
			if c.workers == 3 {
				sameBits(t, "resumed", weights(s), want[:len(weights(s))])
			} else {
				near(t, fmt.Sprint("resumed with ", c.workers), weights(s), want, 1e-6)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSignalsReachAll: all workers perform a signal's request to one of them after the same iteration, even if it comes during a test.
func TestSignalsReachAll(t *testing.T) {
	for _, asked := range []int{0, 2} {
		polls := 0
		c := crew{workers: 3, text: unevenNet, options: func(rank int, o *Options) {
			if rank == asked {
				o.Action = func() Action {
					if polls++; polls == 4 {
						return Stop
					}
					return None
				}
			}
		}}
		if err := c.run(t, func(rank int, s *Solver) error {
			err := s.Step(100)
			if s.Iter() != 4 {
				t.Errorf("rank %d stopped after %d iterations, want 4", rank, s.Iter())
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestSteadyStateAllocatesNothing: after the first iterations, iterations of workers and core groups allocate nothing. Where other processes interrupt threads, the runtime allocates records
// of those that wait, so that the least of some measurements counts.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	few, many := racing.Iterations(100), racing.Iterations(300)
	for _, c := range []crew{
		{coreGroups: 2}, {workers: 2}, {workers: 2, team: Team{BucketBytes: 1}}, {workers: 2, team: Team{Strategy: "easgd"}},
		{workers: 2, team: Team{Strategy: "hogwild_sgd"}}, {workers: 2, team: Team{Strategy: "sync_easgd3"}},
	} {
		c.text = normNet
		each := math.Inf(1)
		for try := 0; try < 4 && each > 0.5; try++ {
			each = min(each, float64(c.allocates(t, many)-c.allocates(t, few))/float64(many-few))
		}
		if each > 0.5 {
			t.Errorf("%d workers of %d core groups, strategy %q: %.1f allocations an iteration", c.workers, c.coreGroups, c.team.Strategy, each)
		}
	}
}

// allocates returns the number of objects that n iterations allocate.
func (c crew) allocates(t *testing.T, n int) (count int) {
	if err := c.run(t, func(rank int, s *Solver) error {
		err := s.Step(10)
		if err == nil && rank == 0 {
			count = alloctest.Count(func() { err = s.Step(n) })
		} else if err == nil {
			err = s.Step(n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return count
}
