package serve

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/predict"
)

// job is a request in a version's queue.
type job struct {
	ctx     context.Context
	inputs  []predict.Array                                     // in the order of the net's
	items   int                                                 // on axis 0 of all of them
	alone   func(ctx context.Context, s *predict.Session) error // what to do instead of running inputs, nil: nothing
	entered time.Time

	outputs []predict.Array // memory of the job
	err     error
	done    chan struct{} // closed when outputs and err are set
}

func newJob(ctx context.Context) *job { return &job{ctx: ctx, done: make(chan struct{})} }

// finish ends a job.
func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}

// work runs the jobs of the queue until it is closed and empty.
func (v *version) work() {
	defer close(v.stopped)
	defer v.end()
	var next *job
	for {
		first := next
		if next = nil; first == nil {
			var ok bool
			if first, ok = <-v.queue; !ok {
				return
			}
		}
		if v.gone(first) {
			continue
		}
		if first.alone != nil || !v.joins {
			v.runAlone(first)
		} else {
			var jobs []*job
			jobs, next = v.gather(first)
			v.runJoined(jobs)
		}
		if v.session == nil {
			_ = v.renew() // the next run tries again and answers with the error
		}
	}
}

// gone notes how long a job waited in the queue, and ends it if its client does not wait any more.
func (v *version) gone(j *job) bool {
	v.meter.waited(time.Since(j.entered))
	return v.ended(j)
}

// ended ends a job whose client does not wait any more, and reports whether it did.
func (v *version) ended(j *job) bool {
	err := j.ctx.Err()
	if err != nil {
		j.finish(fmt.Errorf("the request waited %v for a run of model %q: %w", time.Since(j.entered).Round(time.Millisecond), v.name, err))
	}
	return err != nil
}

// gather takes jobs from the queue until a run is full, or the queue is empty and the delay has passed. A job that cannot join is returned as next.
func (v *version) gather(first *job) (jobs []*job, next *job) {
	jobs = []*job{first}
	deadline := time.NewTimer(v.delay)
	defer deadline.Stop()
	for items := first.items; items < v.batch; {
		j := v.another(deadline)
		switch {
		case j == nil:
			return jobs, nil
		case j.alone != nil || items+j.items > v.batch:
			return jobs, j
		case v.gone(j):
			continue
		}
		jobs = append(jobs, j)
		items += j.items
	}
	return jobs, nil
}

// another returns a job of the queue, nil if none comes before the deadline.
func (v *version) another(deadline *time.Timer) *job {
	select {
	case j := <-v.queue:
		return j
	default:
	}
	if v.delay == 0 {
		return nil
	}
	select {
	case j := <-v.queue: // nil after it was closed
		return j
	case <-deadline.C:
		return nil
	}
}

// runAlone runs a job by itself.
func (v *version) runAlone(j *job) {
	start := time.Now()
	err := v.guarded(func() error {
		if j.alone != nil {
			return j.alone(j.ctx, v.session)
		}
		outs, err := v.session.Run(j.ctx, j.inputs...)
		for _, o := range outs {
			j.outputs = append(j.outputs, predict.Array{Name: o.Name, Shape: slices.Clone(o.Shape), Values: slices.Clone(o.Values)})
		}
		return err
	})
	v.meter.ran(j.items, time.Since(start))
	j.finish(err)
}

// runJoined runs the items of jobs together, in runs of the sizes that are planned ahead, and gives each job its part of the outputs.
// After a fault each job runs by itself, so that it ends only the one whose values cause it.
func (v *version) runJoined(jobs []*job) {
	if jobs = slices.DeleteFunc(jobs, v.ended); len(jobs) == 0 {
		return
	}
	all := v.join(jobs)
	items := 0
	for _, j := range jobs {
		items += j.items
	}
	ctx := context.Background()
	if len(jobs) == 1 {
		ctx = jobs[0].ctx
	}
	var outs []predict.Array
	err := v.guarded(func() (err error) {
		outs, err = v.runItems(ctx, all, items)
		return err
	})
	if len(jobs) > 1 && isFault(err) {
		for _, j := range jobs {
			v.runJoined([]*job{j})
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
func (v *version) join(jobs []*job) []predict.Array {
	if len(jobs) == 1 {
		return jobs[0].inputs
	}
	all := slices.Clone(jobs[0].inputs)
	v.joined = slices.Grow(v.joined, len(all))[:len(all)]
	for k := range all {
		list := v.joined[k][:0]
		for _, j := range jobs {
			list = append(list, j.inputs[k].Values...)
		}
		v.joined[k], all[k].Values = list, list
	}
	return all
}

// part returns a copy of the outputs of n items from item at on.
func part(outs []predict.Array, at, n, items int) (own []predict.Array) {
	for _, o := range outs {
		size := len(o.Values) / items
		shape := slices.Clone(o.Shape)
		shape[0] = n
		own = append(own, predict.Array{Name: o.Name, Shape: shape, Values: slices.Clone(o.Values[at*size:][:n*size])})
	}
	return own
}

// runItems runs a number of items.
func (v *version) runItems(ctx context.Context, inputs []predict.Array, items int) ([]predict.Array, error) {
	outs := make([]predict.Array, len(v.model.Outputs()))
	piece := slices.Clone(inputs)
	sizes := v.sizes()
	for at := 0; at < items; {
		n := fitting(sizes, items-at)
		for k, in := range inputs {
			size := len(in.Values) / items
			piece[k].Shape = slices.Clone(in.Shape)
			piece[k].Shape[0] = n
			piece[k].Values = in.Values[at*size:][:n*size]
		}
		start := time.Now()
		got, err := v.session.Run(ctx, piece...)
		v.meter.ran(n, time.Since(start))
		if err != nil {
			return nil, err
		}
		for k, o := range got {
			if len(o.Shape) == 0 || o.Shape[0] != n {
				return nil, fmt.Errorf("model %q: output %q has shape %v for %d items", v.name, o.Name, o.Shape, n)
			}
			outs[k].Name = o.Name
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
