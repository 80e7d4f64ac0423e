package serve

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/predict"
)

// runner runs a version's net on a number of cores.
type runner struct {
	v       *version
	cores   int
	session *predict.Session // nil after a fault, until renew
	plans   int              // of v.sizes(), those that the session has: the first ones
	joined  [][]float32      // memory of join
	row     int              // of the trace
	paces   []time.Duration  // of an item, for the plans
}

// planned reports whether the session has all plans.
func (r *runner) planned() bool { return r.session != nil && r.plans == len(r.v.sizes()) }

// try plans the net for one item, of which plan makes the rest.
func (r *runner) try() error {
	if err := r.session.Plan(r.v.sizes()[0]); err != nil {
		return fmt.Errorf("planning the net: %w", err)
	}
	return nil
}

// plan makes the session, or its next plan.
func (r *runner) plan() error {
	if r.session == nil {
		return r.renew(true)
	}
	err := relay.Error(func() error {
		if n := r.v.sizes()[r.plans]; n != stated {
			return r.session.Prepare(n)
		}
		return r.session.PrepareStated()
	})
	if r.plans++; err == nil && r == r.v.runners[0] && r.v.joins && r.v.best.Load() == 0 {
		err = r.measure()
	}
	if err != nil {
		r.end()
		return fmt.Errorf("planning the net: %w", err)
	}
	return nil
}

// run runs jobs, which share a run if they are several.
func (r *runner) run(jobs []*job) {
	items, begun := 0, time.Now()
	for _, j := range jobs {
		items += j.items
	}
	for _, j := range jobs {
		j.began, j.batch = begun, items
	}
	defer func() {
		r.v.trace.span(r.row, "run", "run", begun, map[string]any{"requests": len(jobs), "items": items})
	}()
	if jobs[0].alone != nil || !r.v.joins {
		r.runAlone(jobs[0])
	} else {
		r.runJoined(jobs)
	}
	if r.session == nil {
		_ = r.renew(false) // the next run tries again and answers with the error
	}
}

// runAlone runs a job by itself.
func (r *runner) runAlone(j *job) {
	start := time.Now()
	err := r.guarded(func() error {
		if j.alone != nil {
			return r.v.misfit(j.alone(j.ctx, r.session))
		}
		outs, err := r.session.Run(j.ctx, j.inputs...)
		for _, o := range outs {
			j.outputs = append(j.outputs, predict.Array{Name: o.Name, Shape: slices.Clone(o.Shape), Values: slices.Clone(o.Values)})
		}
		return r.v.misfit(err)
	})
	r.v.meter.ran(j.items, time.Since(start))
	j.finish(err)
}

// runJoined runs the items of jobs together, in runs of the sizes that are planned ahead, and gives each job its part of the outputs.
// After a fault, or where a layer refuses values, each job runs by itself, so that it ends only the one whose values cause it.
func (r *runner) runJoined(jobs []*job) {
	if jobs = slices.DeleteFunc(jobs, r.v.ended); len(jobs) == 0 {
		return
	}
	all := r.join(jobs)
	items := 0
	for _, j := range jobs {
		items += j.items
	}
	ctx := context.Background()
	if len(jobs) == 1 {
		ctx = jobs[0].ctx
	}
	var outs []predict.Array
	err := r.guarded(func() (err error) {
		outs, err = r.runItems(ctx, all, items)
		return err
	})
	if len(jobs) > 1 && (isFault(err) || isOfValues(err)) {
		for _, j := range jobs {
			r.runJoined([]*job{j})
		}
		return
	}
	at := 0
	for _, j := range jobs {
		if err == nil {
			j.outputs = part(outs, at, j.items, items)
		}
		at += j.items
		j.finish(err)
	}
}

// join puts the inputs of jobs behind one another, in memory that the next call uses again.
func (r *runner) join(jobs []*job) []predict.Array {
	if len(jobs) == 1 {
		return jobs[0].inputs
	}
	all := slices.Clone(jobs[0].inputs)
	r.joined = slices.Grow(r.joined, len(all))[:len(all)]
	for k := range all {
		list := r.joined[k][:0]
		for _, j := range jobs {
			list = append(list, j.inputs[k].Values...)
		}
		r.joined[k], all[k].Values = list, list
	}
	return all
}

// part returns the outputs of n items from item at on; of some of the items, a copy.
func part(outs []predict.Array, at, n, items int) (own []predict.Array) {
	if n == items {
		return outs
	}
	for _, o := range outs {
		size := len(o.Values) / items
		shape := slices.Clone(o.Shape)
		shape[0] = n
		own = append(own, predict.Array{Name: o.Name, Shape: shape, Values: slices.Clone(o.Values[at*size:][:n*size])})
	}
	return own
}

// runItems runs a number of items.
func (r *runner) runItems(ctx context.Context, inputs []predict.Array, items int) ([]predict.Array, error) {
	outs := make([]predict.Array, len(r.v.model.Outputs()))
	piece := slices.Clone(inputs)
	sizes := r.v.sizes()[:max(1, r.plans)] // the run makes the first plan if there is none yet
	for at := 0; at < items; {
		n := fitting(sizes, min(items-at, r.v.full(r)))
		for k, in := range inputs {
			size := len(in.Values) / items
			piece[k].Shape = slices.Clone(in.Shape)
			piece[k].Shape[0] = n
			piece[k].Values = in.Values[at*size:][:n*size]
		}
		start := time.Now()
		got, err := r.session.Run(ctx, piece...)
		r.v.meter.ran(n, time.Since(start))
		if isOfValues(err) && n < items {
			return nil, badf("items %d to %d of %d, counted from 0: %w", at, at+n-1, items, r.v.misfit(err))
		}
		if err != nil {
			return nil, r.v.misfit(err)
		}
		for k, o := range got {
			if len(o.Shape) == 0 || o.Shape[0] != n {
				return nil, fmt.Errorf("model %q: output %q has shape %v for %d items", r.v.name, o.Name, o.Shape, n)
			}
			if at == 0 {
				outs[k].Name, outs[k].Values = o.Name, make([]float32, 0, len(o.Values)/n*items)
			}
			outs[k].Shape = append(outs[k].Shape[:0], o.Shape...)
			outs[k].Values = append(outs[k].Values, o.Values...)
		}
		at += n
	}
	for k := range outs {
		outs[k].Shape[0] = items
	}
	return outs, nil
}

// fitting returns the largest of the sizes, which ascend from 1, that is at most n.
func fitting(sizes []int, n int) int {
	best := sizes[0]
	for _, s := range sizes {
		if s <= n {
			best = s
		}
	}
	return best
}
