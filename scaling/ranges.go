package scaling

import (
	"github.com/swcaffe/swcaffe/modeltime/trust"
	"github.com/swcaffe/swcaffe/topology"
)

// Range holds the least and the largest probable value of every figure of a point, each by itself.
type Range struct {
	Low  Figures `json:"low"`
	High Figures `json:"high"`
}

// wire is the factor of all communication.
func (c *Config) wire() topology.VTime {
	if c.slowness == 0 {
		return 1
	}
	return c.slowness
}

// addRanges models the points with computing and communication at both ends of what is known of them (package trust), in all four
// combinations. There are no ranges if either is unknown: a Compute without factors, or a cluster of which nothing was published.
func (c *Config) addRanges(points []Point, nodes []int) error {
	wire, known := trust.Of(c.Cluster.Name).Of(trust.Communication)
	if !known {
		return nil
	}
	for _, p := range points {
		if compute, err := c.Job.Compute(p.NodeBatch); err != nil || compute.High == 0 {
			return err
		}
	}
	for i := range points {
		points[i].Range = &Range{points[i].Figures, points[i].Figures}
	}
	for _, corner := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		end := *c
		end.Job.Compute = func(batch int) (Compute, error) {
			compute, err := c.Job.Compute(batch)
			return compute.times(pick(corner[0], compute.Low, compute.High)), err
		}
		end.slowness = topology.VTime(pick(corner[1], wire.Low, wire.High))
		ends, err := end.points(nodes)
		if err != nil {
			return err
		}
		for i := range points {
			points[i].Range.include(&ends[i].Figures)
		}
	}
	return nil
}

func pick(second bool, a, b float64) float64 {
	if second {
		return b
	}
	return a
}

// all returns the figures' places.
func (f *Figures) all() []*float64 {
	return []*float64{
		(*float64)(&f.Iteration), (*float64)(&f.Compute), (*float64)(&f.Communication), (*float64)(&f.IO),
		&f.CommunicationShare, &f.Speedup, &f.Efficiency, &f.Images,
	}
}

// include widens the range to a point's figures.
func (r *Range) include(f *Figures) {
	low, high := r.Low.all(), r.High.all()
	for i, v := range f.all() {
		*low[i], *high[i] = min(*low[i], *v), max(*high[i], *v)
	}
}

// remembered is a collective that is asked once for each size: ranges need its times again.
type remembered struct {
	Collective
	times map[collectiveKey]topology.VTime
}

type collectiveKey struct {
	nodes int
	bytes int64
}

// Time implements Collective.
func (r remembered) Time(nodes int, bytes int64) (topology.VTime, error) {
	key := collectiveKey{nodes, bytes}
	t, ok := r.times[key]
	if ok {
		return t, nil
	}
	t, err := r.Collective.Time(nodes, bytes)
	if err == nil {
		r.times[key] = t
	}
	return t, err
}
