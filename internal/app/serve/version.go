package serve

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/predict"
)

// version is a loaded net with its queue, which goroutines of its own run.
type version struct {
	name, number string
	model        *predict.Model
	batch        int           // the most items of a run
	maxPixels    int           // of an image
	joins        bool          // whether the items of several requests may share a run
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
}

// errFull refuses a request at once.
var errFull = &failure{http.StatusTooManyRequests, errors.New("the model's queue is full; try again later")}

// start plans the net and starts the version's goroutines. If no other version answers meanwhile, a session is enough for the beginning: the plans are made while
// requests come, which wait for the first one and are answered with those that are there.
func start(name, number string, m *predict.Model, cfg *Config, meter *meter, alone bool) (*version, error) {
	v := &version{
		name: name, number: number, model: m, batch: m.Batch(), joins: separable(m), maxPixels: cfg.MaxPixels, delay: cfg.Delay, meter: meter, trace: cfg.Trace, errorf: cfg.Errorf,
		queue: newQueue(cfg.Queue), begun: make(chan struct{}),
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
		if err := r.renew(alone); err != nil {
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

// begin makes the plans that start has not made, in turns with runs, which have all cores meanwhile.
func (v *version) begin() {
	for _, r := range append([]*runner{v.wide}, v.runners...) {
		for !r.planned() {
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

// sizes lists the numbers of items of which runs are made ahead.
func (v *version) sizes() (list []int) {
	if !v.joins {
		if s := v.model.Inputs()[0].Shape; len(s) > 0 && s[0] > 0 {
			return s[:1]
		}
		return []int{1}
	}
	for n := 1; n < v.batch; n *= 2 {
		list = append(list, n)
	}
	return append(list, v.batch)
}

// separable reports whether an item has the same results in any company, and axis 0 of every input and output counts the items.
func separable(m *predict.Model) bool {
	if m.Mixes() != nil || m.Continues() != nil || m.Detector() != "" {
		return false
	}
	first := m.Inputs()[0].Shape
	for _, p := range slices.Concat(m.Inputs(), m.Outputs()) {
		if len(p.Shape) == 0 || len(first) == 0 || p.Shape[0] != first[0] {
			return false
		}
	}
	return true
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
	v.users.Wait()
	v.queue.close()
	v.workers.Wait()
	v.end()
}

// port is an input or output as the protocol's metadata has it.
type port struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"` // -1: any extent
}

// ports describes inputs or outputs. The batch is axis 0; a detection layer's rows are axis 2.
func (v *version) ports(of []predict.Port) []port {
	list := []port{}
	for _, p := range of {
		shape := slices.Clone(p.Shape)
		switch {
		case p.Name == v.model.Detector() && len(shape) == 4:
			shape[2] = -1
		case len(shape) > 0:
			shape[0] = -1
		}
		list = append(list, port{p.Name, "FP32", shape})
	}
	return list
}

// arrange puts tensors into the order of the net's inputs and checks them. It returns the number of items.
func (v *version) arrange(given []tensor) ([]predict.Array, int, error) {
	ports := v.model.Inputs()
	arrays := make([]predict.Array, len(ports))
	items := 0
	for _, t := range given {
		k := slices.IndexFunc(ports, func(p predict.Port) bool { return p.Name == t.name })
		if k < 0 {
			return nil, 0, &failure{http.StatusBadRequest, suggest.Unknown("input", t.name, "inputs", names(ports))}
		}
		if arrays[k].Name != "" {
			return nil, 0, badf("input %q is given twice", t.name)
		}
		n, err := v.check(ports[k], t)
		if err != nil {
			return nil, 0, err
		}
		if items != 0 && n != items {
			return nil, 0, badf("input %q has %d items on axis 0, another input has %d", t.name, n, items)
		}
		items = n
		arrays[k] = predict.Array{Name: t.name, Shape: t.shape, Values: t.values}
	}
	for k := range arrays {
		if arrays[k].Name == "" {
			return nil, 0, badf("input %q is missing; model %q has the inputs %v", ports[k].Name, v.name, names(ports))
		}
	}
	if !v.joins && items > v.batch {
		return nil, 0, badf("%d items in a request; model %q takes at most %d at once", items, v.name, v.batch)
	}
	return arrays, items, nil
}

// check compares a tensor with an input and returns the number of its items.
func (v *version) check(p predict.Port, t tensor) (int, error) {
	wrong := len(t.shape) != len(p.Shape)
	for axis := 1; axis < len(p.Shape) && !wrong; axis++ {
		wrong = t.shape[axis] != p.Shape[axis]
	}
	if wrong {
		return 0, badf("input %q has shape %v, model %q takes %v", t.name, t.shape, v.name, v.ports([]predict.Port{p})[0].Shape)
	}
	if len(t.shape) == 0 {
		return 1, nil
	}
	if t.shape[0] < 1 {
		return 0, badf("input %q has shape %v: at least one item is needed on axis 0", t.name, t.shape)
	}
	return t.shape[0], nil
}

func names(ports []predict.Port) (list []string) {
	for _, p := range ports {
		list = append(list, p.Name)
	}
	return list
}
