package tensorboard

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/swcaffe/swcaffe/solver/events"
)

// Run writes a run's curves, its net and its hyperparameters below a folder.
type Run struct {
	folder string
	warn   func(error)
	first  int // first iteration of this part of the run
	train  *Writer
	root   *Writer   // of the folder: the run's hyperparameters
	tests  []*Writer // by test net; nil: not tested yet
	broken bool      // a folder cannot be written
}

// NewRun returns a Run that creates its files when the run starts.
func NewRun(folder string, warn func(error)) *Run { return &Run{folder: folder, warn: warn} }

// open creates the file of a part of the run.
func (r *Run) open(name string, e events.Event) *Writer {
	if r.broken {
		return nil
	}
	w, err := Create(filepath.Join(r.folder, name), e.Time, r.first, r.warn)
	if err != nil {
		r.broken = true
		r.warn(fmt.Errorf("no events for TensorBoard: %w; training goes on", err))
	}
	return w
}

// Take writes an event.
func (r *Run) Take(e events.Event) {
	switch b := e.Body.(type) {
	case *events.Started:
		r.first = b.Iteration
		if r.train == nil {
			r.train = r.open("train", e)
			r.describe(e.Time, b)
		}
	case *events.Iteration:
		if r.train != nil {
			r.train.Add(e.Time, b.Iteration, append(outputs(b.Loss, b.Outputs), Scalar{"learning rate", float64(b.Rate)},
				Scalar{"items per second", float64(b.Speed)}, Scalar{"wait for data", float64(b.Wait)})...)
		}
	case *events.Test:
		for b.Net >= len(r.tests) {
			r.tests = append(r.tests, nil)
		}
		if r.tests[b.Net] == nil {
			r.tests[b.Net] = r.open(fmt.Sprintf("test_%d", b.Net), e)
		}
		if w := r.tests[b.Net]; w != nil {
			w.Add(e.Time, b.Iteration, outputs(b.Loss, b.Outputs)...)
		}
	case *events.Stopped:
		r.end(e.Time, endedSuccess)
	case *events.Crashed:
		r.end(e.Time, endedFailure)
	}
}

// describe writes the training net's graph, and the run's hyperparameters and metrics into the folder itself, so that the curves' runs below belong
// to them.
func (r *Run) describe(at time.Time, s *events.Started) {
	if r.train == nil {
		return
	}
	d, err := newDescription(s)
	if err != nil {
		r.warn(fmt.Errorf("no graph and no hyperparameters for TensorBoard: %w; training goes on", err))
		return
	}
	if len(d.train) > 0 {
		r.train.write(graphEvent(at, NewGraph(d.train)))
	}
	if r.root, err = Create(r.folder, at, 0, r.warn); err != nil {
		r.warn(fmt.Errorf("no hyperparameters for TensorBoard: %w; training goes on", err))
		r.root = nil
		return
	}
	r.root.write(experimentEvent(at, d.parameters, d.metrics))
	r.root.write(sessionEvent(at, d.parameters))
}

// end says how the run ended.
func (r *Run) end(at time.Time, status int) {
	if r.root != nil {
		r.root.write(endEvent(at, status))
	}
}

func outputs(loss events.Number, list []events.Value) []Value {
	values := []Value{Scalar{"loss", float64(loss)}}
	for _, o := range list {
		values = append(values, Scalar{"output/" + o.Name, float64(o.Value)})
	}
	return values
}

// Train returns the writer of the training net; nil before the run has started, and if its file cannot be written.
func (r *Run) Train() *Writer { return r.train }

// Close closes the files.
func (r *Run) Close() error {
	var errs []error
	for _, w := range append(r.tests, r.train, r.root) {
		if w != nil {
			errs = append(errs, w.Close())
		}
	}
	return errors.Join(errs...)
}
