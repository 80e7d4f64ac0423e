package measure

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/modeltime/trust"
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
		c.print(w)
	}
	fmt.Fprintf(w, "\n%s\n", r.aboutRanges())
}

// print prints the table of a curve.
func (c *scaleCurve) print(w io.Writer) {
	spaces := make([]int, len(scaleColumns))
	heading, line := fmt.Sprintf("\n%7s", "nodes"), ""
	for k, f := range scaleColumns {
		for i := range c.rows {
			spaces[k] = widest(spaces[k], c.rows[i].rangeOf(f.of))
		}
		heading += fmt.Sprintf(" %*s%-*s", f.width, f.name, spaces[k], rangeHeading(spaces[k]))
	}
	fmt.Fprintln(w, strings.TrimRight(heading, " "))
	for i := range c.rows {
		p := &c.rows[i]
		line = fmt.Sprintf("%7d", p.Nodes)
		for k, f := range scaleColumns {
			line += fmt.Sprintf(" "+f.format+"%-*v", f.of(&p.Figures), spaces[k], p.rangeOf(f.of))
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// scaleColumns are a table's columns behind the number of nodes.
var scaleColumns = []struct {
	name   string
	width  int
	format string
	of     func(f *scaling.Figures) float64
}{
	{"iteration", 12, "%12.5g", func(f *scaling.Figures) float64 { return float64(f.Iteration) }},
	{"compute", 12, "%12.5g", func(f *scaling.Figures) float64 { return float64(f.Compute) }},
	{"communicate", 12, "%12.5g", func(f *scaling.Figures) float64 { return float64(f.Communication) }},
	{"read", 12, "%12.5g", func(f *scaling.Figures) float64 { return float64(f.IO) }},
	{"comm %", 9, "%9.2f", func(f *scaling.Figures) float64 { return 100 * f.CommunicationShare }},
	{"speed-up", 10, "%10.2f", func(f *scaling.Figures) float64 { return f.Speedup }},
	{"efficiency", 10, "%9.2f%%", func(f *scaling.Figures) float64 { return 100 * f.Efficiency }},
	{"images/s", 12, "%12.1f", func(f *scaling.Figures) float64 { return f.Images }},
}

// rangeOf returns the range of one of a row's figures; it is not known if the point has none, or if it is the figure alone.
func (p *scaleRow) rangeOf(figure func(f *scaling.Figures) float64) trust.Range {
	if p.Range == nil || figure(&p.Range.Low) == figure(&p.Range.High) {
		return trust.Range{}
	}
	return trust.Range{Low: figure(&p.Range.Low), High: figure(&p.Range.High)}
}

// aboutRanges says what the ranges are, or why there are none.
func (r *scaleReport) aboutRanges() string {
	for _, name := range []string{r.Machine, r.Cluster} {
		if trust.Of(name) == nil {
			return fmt.Sprintf("no ranges: no times of %s were published to compare its model with", name)
		}
	}
	return aboutRanges(r.Machine)
}
