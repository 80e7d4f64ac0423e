package solver

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/solver/rules"
)

// Solve trains from the current iteration to max_iter, or until a signal requests a stop. At the end it writes a snapshot. Then, as Caffe
// does, it prints the loss of one more forward pass and runs a last test.
func (v *Solver) Solve() (err error) {
	if err := v.report.started(); err != nil {
		return err
	}
	defer v.report.ended(&err)
	v.begun = v.iter
	v.spare.take()
	defer v.spare.release()
	if err := relay.Error(v.solve); err != nil {
		if v.opt.Carries != nil && v.opt.Carries(err) {
			return err
		}
		return relay.RaiseIn(v.rescue(err))
	}
	return nil
}

func (v *Solver) solve() error {
	if err := v.CheckTargets(); err != nil {
		return err
	}
	v.log.Infof("Solving %s", v.net.Name())
	v.log.Infof("Learning Rate Policy: %s", v.param.GetLrPolicy())
	maxIter := int(v.param.GetMaxIter())
	if v.iter > maxIter {
		v.log.Warnf("max_iter is %d, and the training has reached iteration %d: there is nothing to train", maxIter, v.iter)
	}
	if err := v.Step(maxIter - v.iter); err != nil {
		return err
	}
	if v.late.owed || v.param.GetSnapshotAfterTrain() && (v.param.GetSnapshot() == 0 || v.iter%int(v.param.GetSnapshot()) != 0) {
		if err := v.Snapshot(); err != nil {
			return err
		}
	}
	if v.stopped {
		v.log.Info("Optimization stopped early.")
		return nil
	}
	if d := int(v.param.GetDisplay()); d > 0 && v.iter%d == 0 {
		loss, err := v.finalLoss()
		if err != nil {
			return v.failed(err)
		}
		v.log.Infof("Iteration %d, loss = %s", v.iter, caffelog.Figure(v.losses.add(loss, v.window())))
	}
	if v.testsNow() {
		if err := v.testAll(); err != nil {
			return err
		}
	}
	v.log.Info("Optimization Done.")
	return nil
}

// testsNow reports whether the test nets run before the current iteration, by test_interval. A snapshot taken after their run says so.
func (v *Solver) testsNow() bool {
	t := int(v.param.GetTestInterval())
	return t > 0 && v.iter%t == 0 && !(v.followsBest() && v.best.tested == v.iter)
}

// finalLoss returns the loss of one more forward pass. Workers that split batches return that of all items, and average their statistics.
func (v *Solver) finalLoss() (float64, error) {
	g := &v.group
	loss, err := g.forward()
	if err != nil || v.team == nil || !v.team.splits() {
		return loss, err
	}
	total := make([]float32, g.pack.count+1)
	g.pack.gather(total, g.whole())
	total[g.pack.count] = float32(loss)
	if err := v.team.NewReducer(len(total), false).Run(total); err != nil {
		return 0, err
	}
	g.spread(total[:g.pack.count])
	return float64(total[g.pack.count]), nil
}

func (v *Solver) window() int { return max(1, int(v.param.GetAverageLoss())) }

func (v *Solver) failed(err error) error { return fmt.Errorf("iteration %d: %w", v.iter, err) }

// Step runs n iterations. All workers of a team call it with the same n.
func (v *Solver) Step(n int) error {
	if err := v.strategy.start(); err != nil {
		return err
	}
	v.stopped = false
	v.group.levelStatistics()
	v.watch.zero()
	return relay.RaiseIn(v.strategy.finish(relay.Error(func() error { return v.steps(n) })))
}

func (v *Solver) steps(n int) error {
	first := v.iter
	v.losses = lossWindow{values: v.losses.values[:0]}
	v.speed = speedometer{since: v.opt.Now(), iteration: v.iter, waited: dataWait(v.net)}
	v.footing.take(v, v.iter)
	for end := v.iter + n; v.iter < end; {
		if v.testsNow() && (v.iter > 0 || v.param.GetTestInitialization()) {
			if err := v.testAll(); err != nil {
				return err
			}
			if v.team == nil && v.stopped {
				return nil
			}
			if early, err := v.stopsEarly(); err != nil || early {
				v.stopped = early
				return err
			}
			if v.iter == first {
				v.speed.since = v.opt.Now()
			}
		}
		v.opt.Progress(false, v.iter, end)
		v.report.begin()
		action, err := v.iterate()
		if err != nil {
			return err
		}
		v.report.iteration()
		if v.opt.OnUpdated != nil {
			v.opt.OnUpdated()
		}
		v.iter++
		v.footing.take(v, v.iter)
		if s := int(v.param.GetSnapshot()); s > 0 && v.iter%s == 0 || action == Snapshot || v.late.due(v.iter) {
			if err := v.snapshotOrLater(); err != nil {
				return err
			}
		}
		if action == Stop {
			v.stopped = true
			return nil
		}
	}
	return nil
}

// iterate runs one iteration: iter_size forward and backward passes, the lines of the log, and the update. It returns the action to take
// after it.
func (v *Solver) iterate() (Action, error) {
	v.watch.begin()
	v.net.ClearParamDiffs()
	display := v.param.GetDisplay() > 0 && v.iter%int(v.param.GetDisplay()) == 0
	v.net.SetDebugInfo(display && v.param.GetDebugInfo())
	if err := call(v.opt.OnStart); err != nil {
		return None, v.failed(err)
	}
	if v.overlap != nil {
		if err := v.overlap.begin(); err != nil {
			return None, err
		}
	}
	loss, err := v.passes()
	if err != nil {
		return None, v.failed(err)
	}
	if loss, err = v.strategy.combine(loss); err != nil {
		return None, err
	}
	v.lastLoss = loss
	v.watch.reach(0)
	smoothed := v.losses.add(loss, v.window())
	if display {
		v.displayLoss(smoothed)
	}
	if err := call(v.opt.OnGradients); err != nil {
		return None, v.failed(err)
	}
	rate, err := v.applyUpdate(display)
	if err != nil {
		return None, err
	}
	v.lastRate = rate
	v.watch.update()
	if v.opt.OnStepped != nil {
		v.opt.OnStepped()
	}
	action, err := v.strategy.updated(rate)
	if err != nil && !isUnequal(err) {
		v.footing.take(v, v.iter+1) // the update is complete, what the workers do after it is not
	}
	return action, err
}

// call calls an optional function.
func call(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}

// passes runs iter_size forward and backward passes and returns their mean loss.
func (v *Solver) passes() (float64, error) {
	var loss float64
	v.spoiled = ""
	passes := max(1, int(v.param.GetIterSize()))
	for i := range passes {
		var done func(int)
		if i == passes-1 && v.overlap != nil {
			done = v.overlap.layerDone
		}
		l, err := v.group.forwardBackward(done)
		if err != nil {
			return 0, err
		}
		loss += l
		if !finite(l) && v.spoiled == "" && !v.warned {
			v.spoiled = v.group.nonFinite()
		}
	}
	return loss / float64(passes), nil
}

// checkLoss returns an error if a loss is NaN or infinite.
func (v *Solver) checkLoss(loss float64) error {
	if finite(loss) {
		return nil
	}
	return v.diverged(loss)
}

// warnOfLoss logs a warning once if a loss is NaN or infinite. Training continues, as in Caffe: a single batch may be the cause.
func (v *Solver) warnOfLoss(loss float64) {
	if v.warned || finite(loss) {
		return
	}
	v.warned = true
	v.log.Warnf("%v. Training continues; later NaN or infinite losses are not reported", v.diverged(loss))
}

// diverged returns the error for a loss that is NaN or infinite.
func (v *Solver) diverged(loss float64) error {
	where := v.spoiled
	if where == "" {
		where = "all blobs are finite, their weighted sum is not"
	}
	return fmt.Errorf("iteration %d: loss = %s; it first appeared in %s; a smaller base_lr or clip_gradients may help", v.iter, caffelog.Figure(loss), where)
}

// applyUpdate updates the weights by the gradients of the last passes. It returns the learning rate.
func (v *Solver) applyUpdate(display bool) (float64, error) {
	if step := rules.NextStep(v.param, v.iter, v.step); step != v.step {
		v.step = step
		if v.param.GetLrPolicy() == "multistep" {
			v.log.Infof("MultiStep Status: Iteration %d, step = %d", v.iter, v.step)
		}
	}
	r := rules.Rate(v.param, v.iter, v.step)
	if math.IsNaN(r) {
		return 0, v.failed(errors.New("the learning rate is not a number: check gamma, power and max_iter"))
	}
	if display {
		v.log.Infof("Iteration %d, lr = %s", v.iter, caffelog.Figure(r))
	}
	if len(v.net.Learnable()) == 0 {
		return r, nil
	}
	limit := float32(-1)
	if v.param.ClipGradients != nil {
		limit = v.param.GetClipGradients()
	}
	clip, norm := clipFactor(v.net.Learnable(), limit)
	if clip != 1 {
		v.log.Infof("Gradient clipping: scaling down gradients (L2 norm %s > %s) by scale factor %s", caffelog.Figure(norm), caffelog.Figure(float64(limit)), caffelog.Figure(float64(clip)))
	}
	v.footing.updating = true
	if err := v.update.apply(v.iter, r, clip); err != nil {
		return 0, v.failed(err)
	}
	return r, nil
}

// exchanges reports whether workers that communicate every tau iterations do so in this iteration.
func (v *Solver) exchanges() bool { return (v.iter+1)%v.team.Tau == 0 }

// learningRate returns the learning rate of the current iteration.
func (v *Solver) learningRate() float64 {
	return rules.Rate(v.param, v.iter, rules.NextStep(v.param, v.iter, v.step))
}
