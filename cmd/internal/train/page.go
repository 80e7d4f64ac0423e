package train

import (
	"errors"
	"io/fs"
	"os"

	"github.com/swcaffe/swcaffe/internal/app/page"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/solver/events"
)

// desk takes tasks from other goroutines. The training goroutine does them between two steps of its own, so that a task may use the solver.
type desk chan func(*solver.Solver) error

func newDesk() desk { return make(desk, 16) }

// put adds a task. It reports whether there was room.
func (d desk) put(task func(*solver.Solver) error) bool {
	select {
	case d <- task:
		return true
	default:
		return false
	}
}

// work does the tasks that wait.
func (d desk) work(s *solver.Solver) error {
	for {
		select {
		case task := <-d:
			if err := task(s); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// pageControl does the tasks of the page's buttons.
type pageControl struct {
	actions *signals
	start   desk // worked before an iteration; nil: the run has several workers
}

func (c pageControl) Buttons() []page.Button {
	list := []page.Button{page.Snapshot, page.Stop}
	if c.start != nil {
		list = append(list, page.Test, page.Rate)
	}
	return list
}

func (c pageControl) Press(b page.Button, value float64) error {
	switch b {
	case page.Snapshot:
		c.actions.request("The page", solver.Snapshot)
	case page.Stop:
		c.actions.request("The page", solver.Stop)
	case page.Test:
		return c.put(func(s *solver.Solver) error {
			c.actions.log.Info("The page asks for a test.")
			return s.TestNow()
		})
	case page.Rate:
		return c.put(func(s *solver.Solver) error {
			c.actions.log.Infof("The page asks for learning rate %g.", value)
			if err := s.SetRate(value); err != nil {
				c.actions.log.Warn(err)
			}
			return nil
		})
	}
	return nil
}

func (c pageControl) put(task func(*solver.Solver) error) error {
	if !c.start.put(task) {
		return errors.New("many requests wait already for the current iteration to end")
	}
	return nil
}

// readPast reads the events of a run's earlier parts, if there are any.
func readPast(past *events.History, path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = events.Read(file, past.Take)
	return err
}
