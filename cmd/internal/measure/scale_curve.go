package measure

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/scaling"
	"github.com/swcaffe/swcaffe/topology"
)

// scaleCurve is one combination of batch, strategy and all-reduce, over all numbers of nodes.
type scaleCurve struct {
	batch     int
	strategy  scaling.Strategy
	allReduce string // "": the strategy uses none
	name      string // the part of its name in which it differs from the other curves
	rows      []scaleRow
}

// curves combines the lists given by the flags.
func (o *scaleOptions) curves() ([]scaleCurve, error) {
	batches, err := o.batchList()
	if err != nil {
		return nil, err
	}
	strategies, reduces := strings.Split(o.strategies, ","), strings.Split(o.allReduces, ",")
	var list []scaleCurve
	for _, name := range strategies {
		strategy, err := scaling.ParseStrategy(name)
		if err != nil {
			return nil, cli.Usagef("-strategy: %w", err)
		}
		for _, reduce := range reduces {
			if o.allReduces == "" {
				reduce = strategy.Collective()
			} else if err := scaling.CheckAllReduce(reduce, strategy); err != nil {
				return nil, cli.Usagef("-allreduce: %w", err)
			}
			for _, batch := range batches {
				c := scaleCurve{batch: batch, strategy: strategy, allReduce: reduce}
				c.setName(len(strategies) > 1, len(reduces) > 1, len(batches) > 1)
				list = append(list, c)
			}
		}
	}
	return list, nil
}

func (c *scaleCurve) setName(strategy, reduce, batch bool) {
	var parts []string
	if strategy || !reduce && !batch {
		parts = append(parts, string(c.strategy))
	}
	if reduce {
		parts = append(parts, c.allReduce)
	}
	if batch {
		parts = append(parts, fmt.Sprintf("batch %d", c.batch))
	}
	c.name = strings.Join(parts, ", ")
}

// batchList parses -batch.
func (o *scaleOptions) batchList() ([]int, error) {
	if o.batches == "" {
		return []int{o.modelled.Batch()}, nil
	}
	var list []int
	for s := range strings.SplitSeq(o.batches, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, cli.Usagef("-batch %q: must be a positive number of images, or a list of them", s)
		}
		list = append(list, n)
	}
	return list, nil
}

// run models a curve.
func (o *scaleOptions) run(e *cli.Env, c *scaleCurve) error {
	points, err := scaling.Run(scaling.Config{
		Job: scaling.Job{Compute: o.modelled.Compute, ImageBytes: o.imageBytes}, Cluster: o.spec, Strategy: c.strategy,
		Collective: announcedCollective{e, scaling.Simulated{
			Cluster: o.spec, Mapping: o.placing, Algorithm: c.allReduce,
			TooLong: func(err error) { e.Log.Warnf("%v, which is taken instead", err) },
		}},
		Batch: c.batch, Strong: o.scaling == "strong", Tau: o.tau, Bucket: int64(o.bucketMB * cli.BytesPerMB),
	}, o.nodes)
	for _, p := range points {
		c.rows = append(c.rows, scaleRow{Strategy: string(c.strategy), AllReduce: c.allReduce, Batch: c.batch, Point: p})
	}
	return err
}

// announcedCollective logs a simulation that may take long.
type announcedCollective struct {
	env *cli.Env
	scaling.Simulated
}

// Time implements scaling.Collective.
func (c announcedCollective) Time(nodes int, bytes int64) (topology.VTime, error) {
	announce(c.env, c.Algorithm, nodes)
	return c.Simulated.Time(nodes, bytes)
}

// printScale prints one table per curve.
func printScale(w io.Writer, r *scaleReport, curves []scaleCurve) {
	fmt.Fprintf(w, "%s on %s, %s a node, cluster %s, %s scaling: modelled seconds of an iteration\n", r.Model, r.Machine, cpe.Groups(r.CoreGroups), r.Cluster, r.Scaling)
	fmt.Fprintf(w, "weights %.1f MB, images of %.0f bytes, tau %d\n", float64(r.WeightBytes)/(1<<20), r.ImageBytes, r.Tau)
	for _, c := range curves {
		fmt.Fprintf(w, "\nbatch %d, strategy %s", c.batch, c.strategy)
		if c.allReduce != "" {
			fmt.Fprintf(w, ", all-reduce %s", c.allReduce)
		}
		fmt.Fprintf(w, "\n%7s %12s %12s %12s %12s %9s %10s %10s %12s\n", "nodes", "iteration", "compute", "communicate", "read", "comm %", "speed-up", "efficiency", "images/s")
		for _, p := range c.rows {
			fmt.Fprintf(w, "%7d %12.5g %12.5g %12.5g %12.5g %9.2f %10.2f %9.2f%% %12.1f\n", p.Nodes, float64(p.Iteration), float64(p.Compute),
				float64(p.Communication), float64(p.IO), 100*p.CommunicationShare, p.Speedup, 100*p.Efficiency, p.Images)
		}
	}
}
