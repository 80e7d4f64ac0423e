package predict

import (
	"context"
	"errors"
	"fmt"
)

// Pool hands out sessions of a model to goroutines. Any number of goroutines may use it.
type Pool struct {
	free chan *Session
	size int
}

// NewPool makes a number of sessions with a number of cores each (Model.NewSession).
func (m *Model) NewPool(sessions, cores int) (*Pool, error) {
	if sessions < 1 {
		return nil, fmt.Errorf("a pool of %d sessions: at least one is needed", sessions)
	}
	p := &Pool{make(chan *Session, sessions), sessions}
	for range sessions {
		s, err := m.NewSession(cores)
		if err != nil {
			p.size = len(p.free)
			return nil, errors.Join(err, p.Close())
		}
		p.free <- s
	}
	return p, nil
}

// Do calls f with a session that nobody else has. It waits for one until ctx ends. f must not keep the session.
func (p *Pool) Do(ctx context.Context, f func(*Session) error) error {
	select {
	case s, ok := <-p.free:
		if !ok {
			return errors.New("the pool was closed")
		}
		defer func() { p.free <- s }()
		return f(s)
	case <-ctx.Done():
		return fmt.Errorf("waiting for one of %d sessions: %w", p.size, ctx.Err())
	}
}

// Close waits until all sessions are free and closes them.
func (p *Pool) Close() error {
	var errs []error
	for range p.size {
		errs = append(errs, (<-p.free).Close())
	}
	close(p.free)
	return errors.Join(errs...)
}
