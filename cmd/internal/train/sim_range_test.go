package train

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/modeltime"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

const rangedNet = `
layer { name: "data" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 8 dim: 64 } shape { dim: 8 dim: 32 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 32 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }
`

// TestSimulatedRange: a worker alone is off as far as its machine, however many passes an iteration has. Communication widens the range: its factors on
// the cluster are wider than the machine's. Where nothing was published of the cluster, there is no range.
func TestSimulatedRange(t *testing.T) {
	machine, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	if machine, err = machine.Without("start"); err != nil { // else starting threads takes most of the small net's time
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ranged.prototxt")
	if err := os.WriteFile(file, []byte(rangedNet), 0o644); err != nil {
		t.Fatal(err)
	}
	net, err := swproto.ReadNet(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := modeltime.Run(net, modelling(machine, net, &caffepb.SolverParameter{}))
	if err != nil {
		t.Fatal(err)
	}
	alone := trust.Range{Low: r.Total.IterationRange.Low / r.Total.IterationMs, High: r.Total.IterationRange.High / r.Total.IterationMs}
	of := func(cluster string, workers int, strategy string, passes int32) trust.Range {
		t.Helper()
		s := &simulation{}
		if s.cluster, err = topology.LoadSpec(cluster); err != nil {
			t.Fatal(err)
		}
		w := &workerFlags{workers: workers, strategy: strategy, tau: 1, allreduce: topology.Auto}
		got, err := s.factorsOf(w, machine, net, &caffepb.SolverParameter{IterSize: &passes}, 8)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, passes := range []int32{1, 3} {
		if got := of("taihulight", 1, solver.Sync, passes); math.Abs(got.Low/alone.Low-1) > 1e-3 || math.Abs(got.High/alone.High-1) > 1e-3 {
			t.Errorf("one worker, %d passes: %+v, want %+v", passes, got, alone)
		}
	}
	for _, strategy := range solver.Strategies() {
		got := of("taihulight", 4, strategy, 1)
		if got.Low > 1 || got.High < alone.High {
			t.Errorf("%s: %+v, a worker alone %+v", strategy, got, alone)
		}
		if strategy == solver.Sync && got.High < 1.5*alone.High {
			t.Errorf("%s: %+v: a small net mostly communicates, at up to %.1f times its time", strategy, got, trust.Of("taihulight")[trust.Communication].High)
		}
	}
	if got := of("infiniband_fdr", 4, solver.Sync, 1); got.Known() {
		t.Errorf("a cluster of which nothing was published: %+v", got)
	}
	s := &simulation{factors: trust.Range{Low: 0.5, High: 3}}
	if low, high, text := s.ranges()(10); low != 5 || high != 30 || !strings.Contains(text, "(5.00-30.0)") {
		t.Errorf("%g, %g, %q", low, high, text)
	}
}
