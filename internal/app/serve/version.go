package serve

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swcaffe/swcaffe/predict"
)

// version is a loaded net with its queue, which goroutines of its own run.
type version struct {
	name, number string
	file         string // the net's, which answers do not name
	model        *predict.Model
	batch        int    // the most items of a run
	maxPixels    int    // of an image
	joins        bool   // whether the items of several requests may share a run
	inputs       []port // of the net, as metadata has them
	outputs      []port
	delay        time.Duration // how long a run waits for more items
	meter        *meter
	trace        *Trace
	errorf       func(format string, args ...any) // writes to the log

	users sync.WaitGroup // requests that found the version; the queue is closed after they have ended
	queue *queue

	taking sync.Mutex // held by the goroutine that takes the next run's jobs
	next   *job       // of the queue, for the next run; nil: none

	best    atomic.Int32 // the cheapest size of runs, 0 until it was measured
	turns   turns
	begun   chan struct{} // closed when all plans are made and all workers are there
	wide    *runner       // with all cores
	runners []*runner     // one for each worker
	workers sync.WaitGroup
	once    sync.Once // of retire
}

// errFull refuses a request at once.
var errFull = &failure{http.StatusTooManyRequests, errors.New("the model's queue is full; try again later")}

// start plans the net and starts the version's goroutines. A net that cannot be planned is an error. If no other version answers meanwhile, a session that is planned for one item is enough
// for the beginning: weights are packed, and the other plans made, while requests come, which are answered with the plans that are there. Of a net whose requests run one by one, the session plans the
// prototxt's shapes, the only ones that are known.
func start(name, number string, m *predict.Model, cfg *Config, meter *meter, alone bool) (*version, error) {
	v := &version{
		name: name, number: number, model: m, batch: m.Batch(), joins: m.Joins() == nil, maxPixels: cfg.MaxPixels, delay: cfg.Delay, meter: meter, trace: cfg.Trace, errorf: cfg.Errorf,
		queue: newQueue(cfg.Queue), begun: make(chan struct{}),
	}
	if err := v.describe(); err != nil {
		return nil, err
	}
	v.turns.init()
	v.wide = v.runner(cfg.Cores)
	v.runners = v.share(cfg)
	all := append(slices.Clone(v.runners), v.wide)
	slices.Reverse(all) // the wide one can answer anything
	if alone {
		all = all[:1]
	}
	for _, r := range all {
		if r.session != nil {
			continue // the only one has all cores
		}
		err := r.renew(alone && v.joins)
		if err == nil && !r.planned() {
			err = r.try()
		}
		if err != nil {
			v.end()
			return nil, err
		}
	}
	v.workers.Go(func() {
		v.begin()
		for _, r := range v.runners[1:] {
			v.workers.Go(func() { v.work(r) })
		}
		close(v.begun)
		v.work(v.runners[0])
	})
	return v, nil
}

// begin makes the plans that start has not made, in turns with runs, which have all cores meanwhile. A version that is retired needs no more.
func (v *version) begin() {
	for _, r := range append([]*runner{v.wide}, v.runners...) {
		for !r.planned() && !v.queue.over() {
			if v.next != nil || v.queue.size() > 0 {
				if jobs, wide, ok := v.take(); ok {
					v.wide.run(jobs)
					v.turns.end(wide)
				}
			}
			if err := r.plan(); err != nil {
				v.errorf("%s: %v", v.title(), err)
				return // the runs that need it try again
			}
		}
	}
}

func (v *version) runner(cores int) *runner {
	return &runner{v: v, cores: cores, row: v.trace.row(fmt.Sprintf("%s/%s, %d cores", v.name, v.number, cores))}
}

// share returns the runners that have a share of the version's cores each; the one with all of them if the net can have one session, or on a modelled machine.
func (v *version) share(cfg *Config) (list []*runner) {
	n := min(cfg.Sessions, cfg.Cores)
	if n < 2 || v.model.Continues() != nil {
		return []*runner{v.wide}
	}
	for i := range n {
		list = append(list, v.runner((i+1)*cfg.Cores/n-i*cfg.Cores/n))
	}
	return list
}

// end closes the sessions.
func (v *version) end() {
	for _, r := range append([]*runner{v.wide}, v.runners...) {
		r.end()
	}
}

// stated stands among the sizes of runs for the shapes of the prototxt.
const stated = 0

// sizes lists the numbers of items of which runs are made ahead.
func (v *version) sizes() (list []int) {
	if !v.joins {
		return []int{stated}
	}
	for n := 1; n < v.batch; n *= 2 {
		list = append(list, n)
	}
	return append(list, v.batch)
}

// submit puts a job into the queue. It never waits.
func (v *version) submit(j *job) error {
	j.entered = time.Now()
	j.memory.use()
	if !v.queue.push(j) {
		j.memory.release()
		return errFull
	}
	return nil
}

// retire ends the version after the requests that found it. Nobody may find it any more.
func (v *version) retire() {
	v.once.Do(func() {
		v.users.Wait()
		v.queue.close()
		v.workers.Wait()
		v.end()
	})
}

// plans reports whether plans are still being made.
func (v *version) plans() bool {
	select {
	case <-v.begun:
		return false
	default:
		return true
	}
}
