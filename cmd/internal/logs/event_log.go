package logs

import (
	"errors"
	"io"
	"math"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/solver/events"
)

// eventLog makes a trainingLog of the events of train's -log_json. A training loss is the smoothed one, as in the log. A run that resumes
// continues its clock, and replaces what came from its iteration on.
type eventLog struct {
	log         trainingLog
	begun, last time.Time // of this part of the run; of the last event
	before      float64   // seconds of the parts before
	simulated   float64   // NaN if time is real
	rate        float64   // NaN before the first
}

// parseEvents reads the lines of train's -log_json.
func parseEvents(r io.Reader) (*trainingLog, error) {
	l := &eventLog{simulated: math.NaN(), rate: math.NaN()}
	if _, err := events.Read(r, l.take); err != nil {
		return nil, err
	}
	if len(l.log.losses) == 0 && len(l.log.test.rows) == 0 {
		return nil, errors.New(`not the events of a training run: it has no line like {"event":"iteration","time":...}`)
	}
	l.log.test.fillRates(l.log.rates)
	return &l.log, nil
}

// take adds an event.
func (l *eventLog) take(e events.Event) {
	if s, ok := e.Body.(*events.Started); ok {
		l.start(e.Time, s.Iteration)
	}
	if l.begun.IsZero() {
		l.begun = e.Time
	}
	l.last = e.Time
	switch b := e.Body.(type) {
	case *events.Iteration:
		if b.Simulated > 0 {
			l.simulated = float64(b.Simulated)
		}
		l.rate = float64(b.Rate)
		at := logPoint{iteration: b.Iteration, seconds: l.seconds()}
		point := func(v events.Number) logPoint { return logPoint{at.iteration, at.seconds, float64(v)} }
		l.log.losses = append(l.log.losses, point(b.Smoothed))
		l.log.rates = append(l.log.rates, point(b.Rate))
		l.log.train.addOutputs(at, 0, l.rate, b.Outputs)
	case *events.Test:
		l.log.test.addOutputs(logPoint{iteration: b.Iteration, seconds: l.seconds()}, b.Net, l.rate, b.Outputs)
	}
}

// start begins a run or a part of it.
func (l *eventLog) start(at time.Time, iteration int) {
	if iteration == 0 {
		l.before = 0
	} else if !l.last.IsZero() {
		l.before += l.last.Sub(l.begun).Seconds()
	}
	l.begun = at
	replaced := func(p logPoint) bool { return p.iteration >= iteration }
	l.log.losses = slices.DeleteFunc(l.log.losses, replaced)
	l.log.rates = slices.DeleteFunc(l.log.rates, replaced)
	for _, t := range []*outputTable{&l.log.train, &l.log.test} {
		t.rows = slices.DeleteFunc(t.rows, func(r *outputRow) bool { return r.iteration >= iteration })
	}
}

// seconds is the time of the last event on the run's clock.
func (l *eventLog) seconds() float64 {
	if math.IsNaN(l.simulated) {
		return l.before + l.last.Sub(l.begun).Seconds()
	}
	return l.simulated
}

// addOutputs adds a row with the outputs of a net.
func (t *outputTable) addOutputs(at logPoint, net int, rate float64, outputs []events.Value) {
	row := &outputRow{iteration: at.iteration, net: net, seconds: at.seconds, rate: rate, values: map[string]float64{}}
	for _, o := range outputs {
		t.name(o.Name, o.Weight != 0)
		row.values[o.Name] = float64(o.Value)
	}
	t.rows = append(t.rows, row)
}

// name enters the name of an output.
func (t *outputTable) name(name string, counts bool) {
	if !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
	if counts {
		if t.losses == nil {
			t.losses = map[string]bool{}
		}
		t.losses[name] = true
	}
}
