package scaling

import (
	"fmt"

	"github.com/swcaffe/swcaffe/topology"
)

// Config describes the runs to be modelled.
type Config struct {
	Job      Job
	Cluster  topology.Spec
	Strategy Strategy
	// Collective models all-reduces; it is used only if the strategy has one.
	Collective Collective
	Batch      int   // images of an iteration: on every node or, if Strong, on all together
	Strong     bool  // strong scaling: all nodes share the batch
	Tau        int   // iterations between two communications; 1 if the strategy is not periodic
	Bucket     int64 // bytes of a bucket of gradients, sync only; 0: one all-reduce after the backward pass

	slowness topology.VTime // factor of all communication; 0: 1
}

// Point is the result for a number of nodes. Times are modelled seconds of an iteration; for strategies that do not communicate in every
// iteration they are means. Compute + Communication + IO = Iteration. Communication and IO are the parts that computation does not hide.
type Point struct {
	Nodes     int `json:"nodes"`
	NodeBatch int `json:"node_batch"` // images of the node with the most
	Figures
	// Range holds the least and the largest probable value of every figure; nil if they are not known.
	Range *Range `json:"range,omitempty"`
}

// Figures are those of a point.
type Figures struct {
	Iteration     topology.VTime `json:"iteration_s"`
	Compute       topology.VTime `json:"compute_s"`
	Communication topology.VTime `json:"communication_s"`
	IO            topology.VTime `json:"io_s"`
	// CommunicationShare is Communication over Iteration.
	CommunicationShare float64 `json:"communication_share"`
	// Speedup is the rate of images relative to one node that trains alone and reads in no time; Efficiency is Speedup over Nodes.
	Speedup    float64 `json:"speedup"`
	Efficiency float64 `json:"efficiency"`
	Images     float64 `json:"images_per_s"`
}

// Run models the run for each of the numbers of nodes.
func Run(c Config, nodes []int) ([]Point, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.Collective = remembered{c.Collective, map[collectiveKey]topology.VTime{}}
	points, err := c.points(nodes)
	if err == nil {
		err = c.addRanges(points, nodes)
	}
	return points, err
}

// points models each number of nodes, without ranges.
func (c *Config) points(nodes []int) ([]Point, error) {
	alone, err := c.Job.Compute(c.Batch)
	if err != nil {
		return nil, err
	}
	base := float64(c.Batch) / float64(alone.Total())
	var points []Point
	for _, n := range nodes {
		p, err := c.point(n)
		if err != nil {
			return nil, err
		}
		p.Speedup = p.Images / base
		p.Efficiency = p.Speedup / float64(n)
		points = append(points, p)
	}
	return points, nil
}

func (c *Config) check() error {
	switch {
	case c.Batch < 1:
		return fmt.Errorf("batch %d: at least one image is needed", c.Batch)
	case c.Tau < 1:
		return fmt.Errorf("tau %d: at least one iteration lies between two communications", c.Tau)
	case c.Tau > 1 && !c.Strategy.method().periodic:
		return fmt.Errorf("tau %d: strategy %s communicates in every iteration; tau is for the EASGD family", c.Tau, c.Strategy)
	case c.Bucket < 0:
		return fmt.Errorf("buckets of %d bytes: the size cannot be negative", c.Bucket)
	case c.Bucket > 0 && c.Strategy != Sync:
		return fmt.Errorf("buckets of %d bytes: they are for strategy %s, not %s", c.Bucket, Sync, c.Strategy)
	}
	return nil
}

// nodesNeeded returns the number of nodes of the cluster that a run with these workers needs.
func (c *Config) nodesNeeded(workers int) int {
	if c.Strategy.method().master {
		return workers + 1
	}
	return workers
}

func (c *Config) point(nodes int) (Point, error) {
	p := Point{Nodes: nodes, NodeBatch: c.Batch}
	images := c.Batch * nodes
	if c.Strong {
		images, p.NodeBatch = c.Batch, (c.Batch+nodes-1)/nodes
	}
	switch need := c.nodesNeeded(nodes); {
	case nodes < 1:
		return p, fmt.Errorf("%d nodes: at least one is needed", nodes)
	case need > c.Cluster.Nodes && need > nodes:
		return p, fmt.Errorf("cluster %q has %d nodes; %d workers of strategy %s and its master need %d", c.Cluster.Name, c.Cluster.Nodes, nodes, c.Strategy, need)
	case need > c.Cluster.Nodes:
		return p, fmt.Errorf("cluster %q has %d nodes; %d were asked for", c.Cluster.Name, c.Cluster.Nodes, nodes)
	case nodes > images:
		return p, fmt.Errorf("%d nodes cannot share a batch of %d images", nodes, images)
	}
	compute, err := c.Job.Compute(p.NodeBatch)
	if err != nil {
		return p, err
	}
	p.Compute = compute.Total()
	if p.Communication, err = c.communication(nodes, compute); err != nil {
		return p, err
	}
	busy := p.Compute + p.Communication
	p.Iteration = max(busy, c.readTime(nodes, p.NodeBatch))
	p.IO = p.Iteration - busy
	p.CommunicationShare = float64(p.Communication / p.Iteration)
	p.Images = float64(images) / float64(p.Iteration)
	return p, nil
}

// readTime returns the time to read every node's next batch.
func (c *Config) readTime(nodes, batch int) topology.VTime {
	if c.Cluster.Storage == nil {
		return 0
	}
	return c.Cluster.Storage.ReadTime(nodes, float64(batch)*c.Job.ImageBytes, c.Cluster.BytesPerSecond)
}

// communication returns the mean time that communication adds to an iteration.
func (c *Config) communication(workers int, compute Compute) (topology.VTime, error) {
	m, bytes, tau := c.Strategy.method(), compute.WeightBytes(), topology.VTime(c.Tau)
	if m.collective == "" {
		across := c.nodesNeeded(workers) > c.Cluster.NodesPerSupernode
		work := tau * compute.Total()
		round := newServer(c.Cluster, bytes, m.hogwild, across).times(c.wire()).round(workers, work)
		return (round - work) / tau, nil
	}
	reduce := func(bytes int64) (topology.VTime, error) {
		t, err := c.Collective.Time(c.nodesNeeded(workers), bytes)
		return t * c.wire(), err
	}
	if !m.periodic {
		return exposed(compute, c.Bucket, reduce)
	}
	t, err := reduce(bytes)
	if m.overlapped {
		t = max(0, t-(compute.Total()-compute.Update))
	}
	return t / tau, err
}
