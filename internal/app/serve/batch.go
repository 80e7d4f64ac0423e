package serve

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/swcaffe/swcaffe/predict"
)

// job is a request in a version's queue.
type job struct {
	ctx     context.Context
	inputs  []predict.Array                                     // in the order of the net's
	items   int                                                 // on axis 0 of all of them
	alone   func(ctx context.Context, s *predict.Session) error // what to do instead of running inputs, nil: nothing
	memory  *body                                               // that inputs are in, nil: not a request's
	entered time.Time

	began, ended time.Time // of the run; zero: there was none
	batch        int       // its items

	outputs []predict.Array // memory of the job
	err     error
	done    chan struct{} // closed when outputs and err are set
}

func newJob(ctx context.Context) *job { return &job{ctx: ctx, done: make(chan struct{})} }

// finish ends a job.
func (j *job) finish(err error) {
	j.err, j.ended = err, time.Now()
	j.memory.release()
	close(j.done)
}

// work runs jobs of the queue on a runner until the queue is closed and empty. Several goroutines do this for a version, each with a runner of its own.
func (v *version) work(own *runner) {
	for {
		jobs, wide, ok := v.take()
		if !ok {
			return
		}
		r := own
		if wide {
			r = v.wide
		}
		r.run(jobs)
		v.turns.end(wide)
	}
}

// take returns the jobs of the next run, once it may begin, and whether it is to have all cores of the version. Without any it ends; ok is false then.
//
// Runs keep their processors of Go, of which there are as many as cores: what reads requests and writes answers has those that no run has. So it takes no cores from the runs of
// other models, however many its requests are. Between runs it goes first, so that requests that have come share the next run.
func (v *version) take() (jobs []*job, wide, ok bool) {
	v.taking.Lock()
	defer v.taking.Unlock()
	for {
		first := v.next
		if v.next = nil; first == nil {
			if first = v.queue.wait(nil); first == nil {
				return nil, false, false
			}
		}
		v.turns.waitWide()
		runtime.Gosched()
		if v.gone(first) {
			continue
		}
		jobs = []*job{first}
		if first.alone == nil && v.joins {
			jobs = v.gather(first)
		}
		return jobs, v.turns.begin(v.next == nil && v.queue.size() == 0), true
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

// portion returns the most jobs of the next run: those that wait are divided among the workers that have no run, unless runs wait for more of them.
func (v *version) portion() int {
	if v.delay > 0 {
		return math.MaxInt
	}
	idle := v.turns.idle(len(v.runners))
	return (v.queue.size() + idle) / idle // rounded up, with the job that was taken
}

// gather takes jobs from the queue until a run has its portion or is full, or the queue is empty and the delay has passed. A job that cannot join is the next run's.
func (v *version) gather(first *job) []*job {
	jobs := []*job{first}
	var deadline <-chan time.Time
	if v.delay > 0 {
		t := time.NewTimer(v.delay)
		defer t.Stop()
		deadline = t.C
	}
	most := v.portion()
	full := v.full(v.runners[0])
	for items := first.items; items < full && len(jobs) < most; {
		j := v.another(deadline)
		switch {
		case j == nil:
			return jobs
		case j.alone != nil || items+j.items > v.batch:
			v.next = j
			return jobs
		case v.gone(j):
			continue
		}
		jobs = append(jobs, j)
		items += j.items
	}
	return jobs
}

// another returns a job of the queue, nil if none comes before the deadline; without one, nil if none is there.
func (v *version) another(deadline <-chan time.Time) *job {
	if deadline == nil {
		j, _ := v.queue.next()
		return j
	}
	return v.queue.wait(deadline)
}
