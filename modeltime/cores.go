package modeltime

import (
	"cmp"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// CoresTime is the modelled time of an iteration on some cores of a processor: of training with its update by SGD with momentum, or of inference.
type CoresTime struct {
	Model     string      `json:"model"`
	Processor string      `json:"processor"`
	Cores     int         `json:"cores"`
	Batch     int         `json:"batch"`
	Inference bool        `json:"inference"`
	Precision string      `json:"precision"`
	Ms        float64     `json:"ms"`
	MsRange   trust.Range `json:"ms_range"`
	Images    float64     `json:"images_per_s"`
	// Idle is the part of all cores' time in which they wait for the longest part of a program.
	Idle float64 `json:"idle_share"`
	// Alone is the part of the time in which one core works and no other has work.
	Alone float64 `json:"single_core_share"`
	// Bounds are the parts of the time by what bounds it: compute, cache (behind L2), memory, start (of programs, on all cores).
	Bounds map[string]float64 `json:"bounds"`
	Passes []CoresPass        `json:"passes"`
}

// CoresPass is one pass through a layer; the update of all weights is a pass of its own.
type CoresPass struct {
	Layer    string  `json:"layer"`
	Pass     string  `json:"pass"` // forward, weight gradient, input gradient, backward or update
	Ms       float64 `json:"ms"`
	Share    float64 `json:"share"` // of the iteration
	Programs int     `json:"programs"`
	Idle     float64 `json:"idle_share"`
	Bound    string  `json:"bound"`
	// Operations and bytes of all cores: of the kernels' inner loops, from caches behind L2, and from memory.
	Operations  float64 `json:"operations"`
	CacheBytes  float64 `json:"cache_bytes"`
	MemoryBytes float64 `json:"memory_bytes"`
}

// reach says how near to its figures a processor comes: the parts of its peak and of its bandwidths.
type reach struct{ compute, bandwidth float64 }

// What kernels reach: in the middle of the range, and at its ends. Their inner loops alone reach 0.93 of the peak (docs/PERFORMANCE.md).
var usual, worst, best = reach{0.80, 0.80}, reach{0.60, 0.65}, reach{0.92, 0.95}

const (
	// startNs is the time of Go's code around a program that runs on one core.
	startNs = 1000.0
	// panelColumns is the number of columns with which a kernel multiplies a value that it has read.
	panelColumns = 32
	// updateBytes are those of a weight in an update: weight, gradient and momentum are read, two of them written.
	updateBytes = 20
)

// Cores models an iteration on a number of a processor's cores. The plans are those that this program would make on such a processor if it had this
// computer's vectors; Survey lists them. Every pass through a layer has the operations that the chosen algorithms' costs count, and moves its arrays once:
// from memory if they do not fit all caches together. Its programs share these. A program takes as long as the slowest of its operations on the longest
// core's part, what that reads from caches, and what all read from memory; then all cores meet. Nothing is measured.
func Cores(file *swproto.Net, o Options, p Processor, cores int, inference bool) (*CoresTime, error) {
	if cores < 1 || cores > p.most() {
		return nil, fmt.Errorf("processor %s has %d cores, not %d", p.GetName(), p.most(), cores)
	}
	o.Spec = p.spec(o.Spec, cores)
	s, err := surveyed(file, o, inference)
	if err != nil {
		return nil, err
	}
	t := s.time(p, cores, usual)
	t.Model, t.Batch, t.Inference, t.Precision = s.model, s.batch, inference, cmp.Or(o.Spec.Precision(), cpe.FP32)
	t.MsRange = trust.Range{Low: s.time(p, cores, best).Ms, High: s.time(p, cores, worst).Ms}
	t.Images = 1000 * float64(t.Batch) / t.Ms
	return t, nil
}

// longest is Longest where the units of several divisions take the same time: that of the larger division counts for more.
func (d *Division) longest(cores int) float64 {
	units, all := 0.0, 0.0
	used := min(d.Cores, cores)
	for _, u := range d.Units {
		units += u.Longest(used) / float64(used) * float64(u.N)
		all += float64(u.N)
	}
	if all == 0 {
		return d.Longest
	}
	return units / all * float64(cores)
}

// time returns the time of the plans.
func (s *plans) time(p Processor, cores int, r reach) *CoresTime {
	t := &CoresTime{Processor: p.GetName(), Cores: cores, Bounds: map[string]float64{}}
	idle := 0.0
	add := func(x *pass) {
		one := CoresPass{Layer: x.layer, Pass: x.name, Operations: x.operations}
		bounds := map[string]float64{}
		for i := range x.programs {
			idle += one.add(x, i, p, cores, r, t, bounds)
		}
		for name, ms := range bounds {
			if t.Bounds[name] += ms; one.Bound == "" || ms > bounds[one.Bound] || ms == bounds[one.Bound] && name < one.Bound {
				one.Bound = name
			}
		}
		one.Idle /= max(1e-300, one.Ms)
		t.Ms += one.Ms
		t.Passes = append(t.Passes, one)
	}
	for i := range s.passes {
		add(&s.passes[i])
	}
	if s.backward {
		even := Division{Program: "update", Runs: s.updates, Cores: cores, Longest: 1}
		add(&pass{layer: "(all)", name: "update", operations: elementWork("") * s.weights, bytes: updateBytes * s.weights, programs: []Division{even}, parts: []float64{1}})
	}
	for i := range t.Passes {
		t.Passes[i].Share = t.Passes[i].Ms / t.Ms
	}
	for name := range t.Bounds {
		t.Bounds[name] /= t.Ms
	}
	t.Idle, t.Alone = idle/t.Ms, t.Alone/t.Ms
	return t
}

// meeting is the time in which some cores start a program together and wait for its end, in transfers of a cache line (package cpe, workers): all others read
// one line, in teams of eight they add one to another, and the teams to a third. Of reads of a line that nobody writes, eight are assumed to be under way at once.
func meeting(cores int) float64 {
	const team, reads = 8.0, 8.0
	others := float64(cores - 1)
	if others == 0 {
		return 0
	}
	return 1 + others/reads + min(others, team) + math.Ceil(others/team)
}

// add adds program i of a pass to its time. It returns the time, in ms, that cores lose because their parts are uneven, and adds to t the time of programs
// on one core.
func (c *CoresPass) add(x *pass, i int, p Processor, cores int, r reach, t *CoresTime, bounds map[string]float64) float64 {
	d := &x.programs[i]
	c.Programs += d.Runs
	flops := p.GetFlopsPerCycle()
	if x.rounded {
		flops = max(flops, p.GetBf16FlopsPerCycle())
	}
	longest := d.longest(cores)
	busy := float64(cores) / longest
	operations := x.operations * x.parts[i]
	bytes := x.bytes * x.parts[i]
	shared := 4 * operations / (2 * panelColumns)
	if memory := x.bytes > p.cacheBytes(cores); !memory {
		shared, bytes = shared+bytes, 0
	}
	c.CacheBytes += shared
	c.MemoryBytes += bytes
	compute := 1e3 * operations / (r.compute * p.GetClockGhz() * 1e9 * flops) / busy
	bound, ms := "compute", compute
	for _, b := range []struct {
		name string
		ms   float64
	}{{"cache", 1e3 * shared / (r.bandwidth * 1e9 * p.GetL3CoreGbytesPerS() * busy)}, {"memory", 1e3 * bytes / (r.bandwidth * p.memory(busy, cores))}} {
		if b.ms > ms {
			bound, ms = b.name, b.ms
		}
	}
	start := 1e-6 * float64(d.Runs) * (startNs + p.GetLineNs()*meeting(min(d.Cores, cores)))
	bounds[bound] += ms
	bounds["start"] += start
	c.Ms += ms + start
	if longest >= float64(cores) && cores > 1 {
		t.Alone += ms
	}
	lost := ms * (1 - 1/longest)
	if bound == "memory" {
		lost = 0 // memory is no faster for more cores, unless one core's share bounds
	}
	c.Idle += lost
	return lost
}
