package topology

// Dynamic is an all-reduce that chooses its algorithm by measurement. Its first runs try every algorithm. The fastest is then used until its
// time changes, and all are tried again. All ranks make the same choice, from the sum of all ranks' measurements.
//
// It is named after the Dynamic Allreduce of W. Wei et al., "Deploying and scaling distributed parallel deep neural networks on the Tianhe-3
// prototype system", Scientific Reports 11:20244, 2021. The definition was not available; this is our reading of the idea.
type Dynamic struct {
	now       func() VTime
	plans     []*AllReduce // one for each of Fixed
	agree     *AllReduce   // sums the measurements over ranks
	measured  []float32    // seconds, one for each of Fixed
	run       int          // number of runs in the current trial or stretch
	current   int
	trying    bool
	reference float32 // time of the current algorithm when it was chosen, summed over ranks
}

const (
	// triesEach is the number of runs of each algorithm in a trial; the first is a warm-up and not measured.
	triesEach = 3
	// stretch is the number of runs after which ranks compare the current algorithm's time with its earlier time.
	stretch = 16
	// drift is the factor of change, up or down, that starts another trial.
	drift = 1.5
)

// NewDynamic prepares a rank's part for arrays of n elements; now is the rank's clock. One Dynamic serves one length.
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

// pick ends a trial by choosing the algorithm with the smallest sum.
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

// compare ends a stretch by comparing times.
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
