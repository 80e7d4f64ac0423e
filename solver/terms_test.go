package solver

import (
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// TestTestsOfOthers: workers that test together are refused if their tests differ; where the first one tests alone, the others' tests do not matter.
func TestTestsOfOthers(t *testing.T) {
	for _, c := range []struct {
		edit func(p *caffepb.SolverParameter)
		want string
	}{
		{func(p *caffepb.SolverParameter) {}, ""},
		{func(p *caffepb.SolverParameter) { p.TestIter[0] = 3 }, "the solvers differ: rank 0 has test_iter: [2], rank 2 has test_iter: [3]"},
		{func(p *caffepb.SolverParameter) { p.TestInterval = proto.Int32(2) }, "the solvers differ: rank 0 has test_interval: 3, rank 2 has test_interval: 2"},
		{func(p *caffepb.SolverParameter) {
			p.TestNetParam[0].Layer[0].DummyDataParam.DataFiller[0].Std = proto.Float32(9)
		},
			`test net #0: layer "data" (DummyData) differs: rank 0 has }, rank 2 has std: 9`},
		{func(p *caffepb.SolverParameter) { p.TestNetParam[0].Layer[2].Type = proto.String("TanH") },
			`test net #0: layer "relu" (ReLU) differs: rank 0 has type: "ReLU", rank 2 has type: "TanH"`},
		{func(p *caffepb.SolverParameter) {
			n := p.TestNetParam[0]
			n.Layer = append(n.Layer[:2], n.Layer[3:]...)
		}, "test net #0: the nets differ: rank 0 has 7 layers, rank 2 has 6 layers"},
		{func(p *caffepb.SolverParameter) { p.TrainState = &caffepb.NetState{Stage: []string{"deploy"}} },
			`the solvers differ: rank 0 has train_state: { }, rank 2 has train_state: { stage:"deploy" }`},
	} {
		for _, strategy := range []string{Sync, "easgd", "sync_easgd3"} {
			crew := crew{workers: 3, text: unevenNet + "test_iter: 2 test_interval: 3", team: Team{Strategy: strategy}, solver: func(rank int, p *caffepb.SolverParameter) {
				p.TestNetParam = []*caffepb.NetParameter{proto.CloneOf(p.NetParam)}
				if rank == 2 {
					c.edit(p)
				}
			}}
			err := crew.run(t, func(_ int, s *Solver) error { return s.Step(7) })
			want := c.want
			if strategy != Sync && !strings.Contains(want, "train_state") {
				want = ""
			}
			if (err == nil) != (want == "") || err != nil && !strings.Contains(strings.ReplaceAll(err.Error(), "  ", " "), want) {
				t.Errorf("%s: %v, want %q", strategy, err, want)
			}
		}
	}
}

// TestTerms: all workers get the first difference of the first worker that differs, before any of them has made a net.
func TestTerms(t *testing.T) {
	for _, c := range []struct {
		terms [3][]string
		want  string
	}{
		{[3][]string{{"-a 1", "-b 2"}, {"-a 1", "-b 2"}, {"-a 1", "-b 2"}}, ""},
		{[3][]string{{"-a 1", "-b 2", "-c 3"}, {"-a 1", "-b 2", "-c 3"}, {"-a 1", "-b 3", "-c 4"}}, "the workers differ: rank 0 has -b 2, rank 2 has -b 3"},
		{[3][]string{{"-a 1"}, {"-a 1", "-b 2"}, {"-a 2"}}, "the workers differ: rank 0 has nothing, rank 1 has -b 2"},
	} {
		crew := crew{workers: 3, text: unevenNet, options: func(rank int, o *Options) { o.Team.Terms = c.terms[rank] }}
		err := crew.run(t, func(rank int, s *Solver) error { return s.Step(1) })
		if (err == nil) != (c.want == "") || err != nil && err.Error() != "rank 0: "+c.want {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
