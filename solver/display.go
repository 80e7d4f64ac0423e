package solver

import (
	"time"

	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// lossWindow computes the mean of the last average_loss losses.
type lossWindow struct {
	values []float64
	next   int
	mean   float64
}

// add adds a loss and returns the mean of the last size losses.
func (w *lossWindow) add(loss float64, size int) float64 {
	if len(w.values) < size {
		w.values = append(w.values, loss)
	} else {
		w.values[w.next] = loss
		w.next = (w.next + 1) % size
	}
	var sum float64
	for _, v := range w.values {
		sum += v
	}
	w.mean = sum / float64(len(w.values))
	return w.mean
}

// speedometer measures the throughput between two lines of the log.
type speedometer struct {
	since     time.Time
	iteration int
	waited    time.Duration
}

// displayLoss logs the loss, the throughput and the net's outputs.
func (v *Solver) displayLoss(smoothed float64) {
	v.logTime()
	now := v.opt.Now()
	lapse := now.Sub(v.speed.since).Seconds()
	perSecond := 0.0
	if lapse > 0 {
		perSecond = float64(v.iter-v.speed.iteration) / lapse
	}
	v.log.Infof("Iteration %d (%s iter/s, %ss/%d iters), loss = %s",
		v.iter, caffelog.Figure(perSecond), caffelog.Figure(lapse), v.param.GetDisplay(), caffelog.Figure(smoothed))
	if perSecond > 0 {
		v.displaySpeed(perSecond, lapse)
	}
	v.speed = speedometer{since: now, iteration: v.iter, waited: dataWait(v.net)}
	v.displayOutputs()
}

// displaySpeed logs the throughput in images, the share of time spent waiting for data, and the remaining time.
func (v *Solver) displaySpeed(perSecond, lapse float64) {
	images := perSecond * v.itemsOfPass() * float64(max(1, v.param.GetIterSize()))
	left := time.Duration(float64(int(v.param.GetMaxIter())-v.iter) / perSecond * float64(time.Second))
	waited := (dataWait(v.net) - v.speed.waited).Seconds()
	v.log.Infof("    Speed: %s images/s, data wait %.1f%%, ETA %s", caffelog.Figure(images), 100*waited/lapse, max(0, left).Round(time.Second))
}

// itemsOfPass returns the number of items that all workers together process in a pass.
func (v *Solver) itemsOfPass() float64 {
	items := float64(v.net.BatchSize()) / float64(v.group.part)
	if !v.team.splits() {
		items *= float64(v.team.size())
	}
	return items
}

// dataWait returns how long the net's data layers have waited for their prefetchers so far.
func dataWait(n *swnet.Net) time.Duration {
	var sum time.Duration
	for i := range n.NumLayers() {
		if w, ok := n.Layer(i).(layers.DataWaiter); ok {
			sum += w.DataWait()
		}
	}
	return sum
}

func (v *Solver) displayOutputs() {
	k := 0
	for _, out := range v.net.Outputs() {
		for _, value := range out.Blob.Data() {
			v.log.Infof("    Train net output #%d: %s = %s%s", k, out.Name, caffelog.Figure(float64(value)), caffelog.LossNote(out.LossWeight, float64(value)))
			k++
		}
	}
}
