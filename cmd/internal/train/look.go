package train

import (
	"context"
	"errors"

	"github.com/swcaffe/swcaffe/internal/app/inspect"
	"github.com/swcaffe/swcaffe/internal/app/testreport"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/solver"
)

// looker looks into the training net for a page, on the training goroutine between the passes of an iteration and the update.
type looker struct {
	*examiner
	*tracer
	desk   desk
	device *layers.Device // of the probe
	probe  *inspect.Probe // nil until a page asks for it
}

func (l *looker) Overview(ctx context.Context) (*inspect.Overview, error) {
	return ask(ctx, l, func(p *inspect.Probe, s *solver.Solver) (*inspect.Overview, error) { return p.Overview(s.Iter()) })
}

func (l *looker) Layer(ctx context.Context, name string) (*inspect.Layer, error) {
	return ask(ctx, l, func(p *inspect.Probe, _ *solver.Solver) (*inspect.Layer, error) { return p.Layer(name) })
}

func (l *looker) Batch(ctx context.Context) (*inspect.Batch, error) {
	return ask(ctx, l, func(_ *inspect.Probe, s *solver.Solver) (*inspect.Batch, error) {
		b, err := inspect.NewBatch(s.Net())
		if b != nil {
			if b.Names = l.labels; b.Names == nil {
				b.Names = testreport.FindLabels(s.Net())
			}
		}
		return b, err
	})
}

// ask has a question answered after the passes of an iteration. Failures of the answer do not end the run.
func ask[T any](ctx context.Context, l *looker, question func(*inspect.Probe, *solver.Solver) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	got := make(chan answer, 1)
	ok := l.desk.put(func(s *solver.Solver) error {
		if ctx.Err() != nil {
			return nil // nobody waits any more
		}
		p, err := l.open(s)
		if err != nil {
			got <- answer{none, err}
			return nil
		}
		v, err := question(p, s)
		got <- answer{v, err}
		return nil
	})
	if !ok {
		return none, errors.New("many pages wait already for the current iteration to end")
	}
	select {
	case a := <-got:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// open builds the probe if it is not there yet.
func (l *looker) open(s *solver.Solver) (_ *inspect.Probe, err error) {
	if l.probe == nil {
		l.probe, err = inspect.NewProbe(s.Net(), l.device)
	}
	return l.probe, err
}

// close frees the probe; a later solver gets its own.
func (l *looker) close() {
	if l.probe != nil {
		_ = l.probe.Close() // it has no files
		l.probe = nil
	}
}
