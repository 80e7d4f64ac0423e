package scaling

import (
	"testing"

	"github.com/swcaffe/swcaffe/modeltime/trust"
)

// TestRanges: on a cluster of which times were published, ranges are those of the four combinations of fast and slow nodes and networks,
// worked out by hand for an iteration that hides nothing: 31 ms, from half to twice as long, and a tree. The collective is asked once.
func TestRanges(t *testing.T) {
	c := testConfig("sync_easgd2")
	c.Job.Compute = func(batch int) (Compute, error) {
		compute, err := testCompute(batch)
		compute.Low, compute.High = 0.5, 2
		return compute, err
	}
	if p := point(t, c, 4); p.Range != nil {
		t.Errorf("nothing was published of cluster test, and the range is %+v", *p.Range)
	}
	c.Cluster.Name = "knl_cori"
	p := point(t, c, 4)
	if p.Range == nil {
		t.Fatal("no range")
	}
	f, _ := trust.Of("knl_cori").Of(trust.Communication)
	m := float64(p.Communication)
	near(t, "compute", float64(p.Range.Low.Compute), 15.5e-3)
	near(t, "communication", float64(p.Range.High.Communication), f.High*m)
	near(t, "iteration", float64(p.Range.Low.Iteration), 15.5e-3+f.Low*m)
	near(t, "longest iteration", float64(p.Range.High.Iteration), 62e-3+f.High*m)
	near(t, "efficiency", p.Range.Low.Efficiency, 15.5e-3/(15.5e-3+f.High*m))
	near(t, "best efficiency", p.Range.High.Efficiency, 62e-3/(62e-3+f.Low*m))
	near(t, "images", p.Range.High.Images, 32/(15.5e-3+f.Low*m))
	c.Strategy = "async_sgd" // a server, which one worker does not keep busy
	p = point(t, c, 1)
	near(t, "server", float64(p.Range.High.Communication), f.High*float64(p.Communication))
	c.Job.Compute = testCompute
	if p := point(t, c, 4); p.Range != nil {
		t.Errorf("nothing was published of the node, and the range is %+v", *p.Range)
	}
}
