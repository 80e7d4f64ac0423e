package solver

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/suggest"
)

// strategy is how workers train together. The solver calls it at the points of an iteration.
type strategy interface {
	// start is called before the first iteration, when weights, histories and the iteration's number are as they will be.
	start() error
	// layerDone is told in the last backward pass of an iteration, after each layer, that the gradients of its weights are complete.
	layerDone(layer int)
	// combine is called between the backward pass and the update. It returns the loss to log.
	combine(loss float64) (float64, error)
	// updated is called after the update, which used a learning rate.
	updated(rate float64) error
	// action returns what the workers have agreed to do after the iteration.
	action() Action
	// shown calls f while the net has the weights to test and to store.
	shown(f func() error) error
	close()
}

// Sync is the strategy whose workers split each batch and add up their gradients before every update.
const Sync = "sync"

// Strategies lists the names that a Team's Strategy may have.
func Strategies() []string { return []string{Sync} }

// CheckStrategy returns an error for a name that is none of Strategies.
func CheckStrategy(name string) error {
	for _, known := range Strategies() {
		if name == known {
			return nil
		}
	}
	return fmt.Errorf("unknown strategy %q%s (strategies: %s)", name, suggest.DidYouMean(name, Strategies()), suggest.List(Strategies()))
}

// newStrategy makes the strategy of the worker's team.
func (v *Solver) newStrategy() strategy {
	if v.team == nil {
		return alone{v}
	}
	return newSyncSGD(v)
}

// alone is the strategy of a worker that has no team.
type alone struct{ v *Solver }

func (a alone) start() error { return nil }

func (a alone) layerDone(int) {}

func (a alone) combine(loss float64) (float64, error) { return loss, a.v.checkLoss(loss) }

func (a alone) updated(float64) error { return nil }

func (a alone) action() Action { return a.v.opt.Action() }

func (a alone) shown(f func() error) error { return f() }

func (a alone) close() {}

// finite reports whether a loss is a number.
func finite(loss float64) bool { return !math.IsNaN(loss) && !math.IsInf(loss, 0) }
