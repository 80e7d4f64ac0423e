package loss

import "math"

// ctcPaths adds up the probabilities of the paths that stand for a sequence of labels (Graves et al. 2006, section 4.1): the labels with blanks
// before, between and after them, each repeated any number of times; blanks between different labels may be missing. A state is a place in
// that extended sequence, at even places a blank. All values are logarithms.
type ctcPaths struct {
	room   int       // time steps of the arrays
	steps  int       // of the sequence
	needed int       // time steps for the labels: each takes one, and so does the blank between two equal ones
	states []int     // the class of each state
	ahead  []float64 // steps x states: of the paths up to a state, its class included
	behind []float64 // states: of the paths after a state, its class not included
	next   []float64 // behind, while it goes back a step
}

// newCTCPaths makes room for sequences of up to labels labels.
func newCTCPaths(steps, labels int) ctcPaths {
	n := 2*labels + 1
	return ctcPaths{room: steps, states: make([]int, 0, n), ahead: make([]float64, steps*n), behind: make([]float64, n), next: make([]float64, n)}
}

// begin starts a sequence of some time steps, without labels.
func (p *ctcPaths) begin(blank, steps int) {
	p.states, p.steps, p.needed = append(p.states[:0], blank), steps, 0
}

// add appends a label to the sequence.
func (p *ctcPaths) add(label int) {
	if n := len(p.states); n > 1 && p.states[n-2] == label {
		p.needed++
	}
	p.needed++
	p.states = append(p.states, label, p.states[0])
}

// read sets a sequence of some time steps with all labels but the blank.
func (p *ctcPaths) read(labels []float32, blank, steps int) {
	p.begin(blank, steps)
	for _, v := range labels {
		if int(v) != blank {
			p.add(int(v))
		}
	}
}

// skips reports whether a path may go from state s-2 to s.
func (p *ctcPaths) skips(s int) bool {
	return s > 1 && s%2 == 1 && p.states[s] != p.states[s-2]
}

// sum returns the logarithm of the probability of all paths, and writes the slope of its negative by the scores. prob and slope are
// steps x classes with a stride; the classes of a row have the sum 1.
func (p *ctcPaths) sum(prob, slope []float32, classes, probStride, slopeStride int) float64 {
	n, impossible := len(p.states), math.Inf(-1)
	summed := p.steps // the time steps beyond have no slopes
	if p.needed > p.steps {
		summed = 0
	}
	for t := summed; t < p.room; t++ {
		clear(slope[t*slopeStride:][:classes])
	}
	if summed == 0 {
		return 0
	}
	at := func(t, s int) float64 { return math.Log(max(float64(prob[t*probStride+p.states[s]]), smallestNormal)) }
	for t := range p.steps {
		for s := range n {
			v := impossible
			if t == 0 && s < 2 {
				v = 0
			}
			if t > 0 {
				before := p.ahead[(t-1)*n:]
				if v = before[s]; s > 0 {
					v = logAdd(v, before[s-1])
				}
				if p.skips(s) {
					v = logAdd(v, before[s-2])
				}
			}
			p.ahead[t*n+s] = v + at(t, s)
		}
	}
	last := p.ahead[(p.steps-1)*n:][:n]
	total := last[n-1]
	if n > 1 {
		total = logAdd(total, last[n-2])
	}
	p.slopes(prob, slope, classes, probStride, slopeStride, total, at)
	return total
}

// slopes goes back through the steps. The slope of a class is its probability less the share of the paths that are in one of its states.
func (p *ctcPaths) slopes(prob, slope []float32, classes, probStride, slopeStride int, total float64, at func(t, s int) float64) {
	n, impossible := len(p.states), math.Inf(-1)
	for s := range n {
		if p.behind[s] = impossible; s >= n-2 {
			p.behind[s] = 0
		}
	}
	for t := p.steps - 1; t >= 0; t-- {
		row := slope[t*slopeStride:][:classes]
		copy(row, prob[t*probStride:])
		for s := range n {
			row[p.states[s]] -= float32(math.Exp(p.ahead[t*n+s] + p.behind[s] - total))
		}
		for s := range n {
			v := p.behind[s] + at(t, s)
			if s+1 < n {
				v = logAdd(v, p.behind[s+1]+at(t, s+1))
			}
			if s+2 < n && p.skips(s+2) {
				v = logAdd(v, p.behind[s+2]+at(t, s+2))
			}
			p.next[s] = v
		}
		p.behind, p.next = p.next, p.behind
	}
}

// logAdd returns log(exp(a) + exp(b)).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
