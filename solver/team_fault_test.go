package solver

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// spoil makes the next loss NaN.
func spoil(s *Solver) { s.Net().Learnable()[3].Blob.Data()[1] = float32(math.NaN()) }

// TestWorkerPanics: a panic of one worker, with the centre or without, stops all workers of every strategy and arrives where the team was
// begun.
func TestWorkerPanics(t *testing.T) {
	for _, strategy := range Strategies() {
		for rank := range 2 {
			c := crew{workers: 3, text: unevenNet, team: Team{Strategy: strategy, BucketBytes: 64}}
			c.options = func(r int, o *Options) {
				o.OnGradients = func() error {
					if r == rank {
						panic("words")
					}
					return nil
				}
			}
			var p *relay.Panic
			func() {
				defer relay.Catch(&p)
				t.Errorf("%s, rank %d: the team returned %v", strategy, rank, c.run(t, func(_ int, s *Solver) error { return s.Step(5) }))
			}()
			if p == nil || p.Value != "words" {
				t.Errorf("%s, rank %d: the team raised %v", strategy, rank, p)
			}
		}
	}
}

// TestTeamFaults: a fault of one worker stops all, and the error names the rank and the place.
func TestTeamFaults(t *testing.T) {
	other := func(edit func(p *caffepb.SolverParameter)) func(int, *caffepb.SolverParameter) {
		return func(rank int, p *caffepb.SolverParameter) {
			if rank == 2 {
				edit(p)
			}
		}
	}
	for _, c := range []struct {
		name string
		crew crew
		bad  func(s *Solver) // on rank 2, after two iterations
		want []string
	}{
		{"another layer", crew{solver: other(func(p *caffepb.SolverParameter) {
			p.NetParam.Layer[4].InnerProductParam.NumOutput = proto.Uint32(5)
		})}, nil, []string{`layer "ip" (InnerProduct) differs: rank 0 has num_output: 3, rank 2 has num_output: 5`}},
		{"fewer layers", crew{solver: other(func(p *caffepb.SolverParameter) {
			p.NetParam.Layer = append(p.NetParam.Layer[:2], p.NetParam.Layer[3:]...)
		})}, nil, []string{"the nets differ: rank 0 has 7 layers, rank 2 has 6 layers"}},
		{"another rate", crew{solver: other(func(p *caffepb.SolverParameter) { p.BaseLr = proto.Float32(1.5) })}, nil,
			[]string{"the solvers differ: rank 0 has base_lr: 0.05, rank 2 has base_lr: 1.5"}},
		{"another type", crew{solver: other(func(p *caffepb.SolverParameter) { p.Type = proto.String("Nesterov") })}, nil,
			[]string{`the solvers differ: rank 0 has type: "SGD", rank 2 has type: "Nesterov"`}},
		{"other steps", crew{solver: other(func(p *caffepb.SolverParameter) { p.Stepvalue = []int32{4, 8} })}, nil,
			[]string{"the solvers differ: rank 0 has stepvalue: [], rank 2 has stepvalue: [4 8]"}},
		{"other weights", crew{team: Team{CheckEvery: 3}}, func(s *Solver) {
			s.Net().Learnable()[2].Blob.Data()[7] += 1e-7
		}, []string{"iteration 2", "rank 2 differ", `layer "ip", param 0`}},
		{"loss is no number", crew{}, spoil, []string{"rank 2: iteration 2: loss = nan", `layer "ip"`}},
		{"core group's loss is no number", crew{coreGroups: 2}, func(s *Solver) {
			s.group.others[0].net.ScaleLoss(float32(math.Inf(1)))
		}, []string{"loss = nan"}},
		{"a worker's loss is no number, the centre in turn", crew{team: Team{Strategy: "easgd"}}, spoil, []string{"rank 2: iteration 2: loss = nan"}},
		{"a worker's loss is no number, no order", crew{team: Team{Strategy: "hogwild_sgd"}}, spoil, []string{"rank 2: iteration 2: loss = nan"}},
		{"a worker's loss is no number, overlapped", crew{team: Team{Strategy: "sync_easgd3"}}, spoil, []string{"rank 2: iteration 2: loss = nan"}},
		{"another centre", crew{team: Team{Strategy: "sync_easgd2", CheckEvery: 3}}, func(s *Solver) {
			s.strategy.(*syncElastic).centre[3] += 1e-7
		}, []string{"centre of rank 2 differs"}},
		{"batch too small", crew{workers: 8}, nil, []string{"rank ", "batch_size 7 is too small to split over 8 workers"}},
		{"core groups too many", crew{coreGroups: 3}, nil, []string{"batch_size 7 gives rank 0 only 2 items for its 3 core groups"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.crew.text = unevenNet
			if c.crew.workers == 0 {
				c.crew.workers = 3
			}
			err := c.crew.run(t, func(rank int, s *Solver) error {
				if err := s.Step(2); err != nil {
					return err
				}
				if c.bad != nil && rank == 2 {
					c.bad(s)
				}
				if c.crew.team.Strategy != "" {
					return s.Step(4)
				}
				return s.iterateAll(4)
			})
			if err == nil {
				t.Fatal("no error")
			}
			if peer := (*PeerError)(nil); errors.As(err, &peer) {
				err = peer
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}

// TestFewerItemsThanWorkers: a database with fewer items than workers is an error.
func TestFewerItemsThanWorkers(t *testing.T) {
	err := crew{workers: 4, text: lenet(t, t.TempDir(), 3, 4)}.run(t, func(int, *Solver) error { return nil })
	if want := "the source has 3 items, fewer than the 4 workers that share them"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// iterateAll runs n iterations without the comparison at the start.
func (v *Solver) iterateAll(n int) error {
	for range n {
		if _, err := v.iterate(); err != nil {
			return err
		}
		v.iter++
	}
	return nil
}

// TestFieldText: the error prints different fields as in a prototxt.
func TestFieldText(t *testing.T) {
	p := &caffepb.SolverParameter{BaseLr: proto.Float32(0.015), Type: proto.String("Nesterov"), Stepvalue: []int32{4, 8},
		SnapshotFormat: caffepb.SolverParameter_HDF5.Enum()}
	said := map[protoreflect.Name]string{}
	for _, f := range solverFields() {
		said[f.Name()] = fieldText(p, f)
	}
	for name, want := range map[protoreflect.Name]string{
		"base_lr": "0.015", "type": `"Nesterov"`, "stepvalue": "[4 8]", "snapshot_format": "HDF5", "max_iter": "0", "regularization_type": `"L2"`,
	} {
		if said[name] != want {
			t.Errorf("%s is said to be %s, want %s", name, said[name], want)
		}
	}
	if _, ok := said["net"]; ok {
		t.Error("net is compared, which may lie elsewhere")
	}
}

// TestOtherData: workers whose sources have different numbers of items are refused, with both; equal ones at different places train.
func TestOtherData(t *testing.T) {
	one, same, fewer := t.TempDir(), t.TempDir(), t.TempDir()
	text := lenet(t, one, 30, 6)
	lenet(t, same, 30, 6)
	lenet(t, fewer, 20, 6)
	for _, c := range []struct{ dir, want string }{
		{same, ""},
		{fewer, `the data of layer "data" (Data) differ: rank 0 has 30 items, rank 1 has 20 items`},
	} {
		crew := crew{workers: 2, text: text, solver: func(rank int, p *caffepb.SolverParameter) {
			if rank == 1 {
				p.TrainNet = proto.String(c.dir + "/net.prototxt")
			}
		}}
		err := crew.run(t, func(_ int, s *Solver) error { return s.Step(1) })
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
