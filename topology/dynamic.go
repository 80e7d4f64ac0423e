package topology

// Dynamic is an all-reduce that measures: its first runs try every algorithm, then the fastest stays until what it measures
// changes, and all are tried again. All ranks decide alike, from the sum of all ranks' measurements.
//
// The name is that of the Dynamic Allreduce of W. Wei et al., "Deploying and scaling distributed parallel deep neural networks
// on the Tianhe-3 prototype system", Scientific Reports 11:20244, 2021. Its definition was not available; this is our reading of the idea.
type Dynamic struct {
	now       func() VTime
	plans     []*AllReduce // by place in Fixed
	agree     *AllReduce   // of the measurements
	measured  []float32    // seconds, by place in Fixed
	run       int          // in the current trial or stretch
	current   int
	trying    bool
	reference float32 // what the current algorithm took when it was picked, summed over ranks
}

const (
	// triesEach is how often a trial runs each algorithm; the first run warms up and is not measured.
	triesEach = 3
	// stretch is after how many runs the ranks compare what the current algorithm takes with what it took.
	stretch = 16
	// drift is the change, up or down, that starts another trial.
	drift = 1.5
)

// NewDynamic prepares the rank's part for arrays of n elements; now is the rank's clock. One Dynamic serves one length.
func NewDynamic(t Transport, l Layout, n int, now func() VTime) *Dynamic {
	d := &Dynamic{now: now, trying: true, measured: make([]float32, len(algorithms))}
	for _, name := range Fixed() {
		d.plans = append(d.plans, NewAllReduce(t, NewSchedule(name, l, n)))
	}
	d.agree = NewAllReduce(t, NewSchedule("recursive_doubling", l, len(algorithms)))
	return d
}

// Current returns the name of the algorithm that the next run uses.
func (d *Dynamic) Current() string { return algorithms[d.current].name }

// Trying reports whether the next run belongs to a trial of all algorithms.
func (d *Dynamic) Trying() bool { return d.trying }

// Run replaces data by its sum over ranks, as [AllReduce.Run] does.
func (d *Dynamic) Run(data []float32) error {
	start := d.now()
	if err := d.plans[d.current].Run(data); err != nil {
		return err
	}
	took := float32(d.now() - start)
	if !d.trying || d.run%triesEach > 0 {
		d.measured[d.current] += took
	}
	d.run++
	switch {
	case d.trying && d.run < triesEach*len(d.plans):
		d.current = d.run / triesEach
	case d.trying:
		return d.pick()
	case d.run == stretch:
		return d.compare()
	}
	return nil
}

// pick ends a trial: the algorithm with the least sum stays.
func (d *Dynamic) pick() error {
	if err := d.agree.Run(d.measured); err != nil {
		return err
	}
	d.current = 0
	for i, m := range d.measured {
		if m < d.measured[d.current] {
			d.current = i
		}
	}
	d.reference = d.measured[d.current] / (triesEach - 1)
	d.start(false)
	return nil
}

// compare ends a stretch.
func (d *Dynamic) compare() error {
	if err := d.agree.Run(d.measured); err != nil {
		return err
	}
	took := d.measured[d.current] / stretch
	changed := took > d.reference*drift || took*drift < d.reference
	if changed {
		d.current = 0
	}
	d.start(changed)
	return nil
}

func (d *Dynamic) start(trying bool) {
	d.trying, d.run = trying, 0
	clear(d.measured)
}
