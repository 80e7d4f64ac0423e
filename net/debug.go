package net

import (
	"math"
	"strconv"

	"github.com/swcaffe/swcaffe/internal/caffelog"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// SetDebugInfo turns the lines of debug_info on or off: the mean absolute value of every blob, gradient and weight
// as it is made. From then on every layer is computed by itself. They are on at first if the net's own debug_info says so.
func (n *Net) SetDebugInfo(on bool) {
	if on && !n.debug {
		n.separate()
		n.planMemory()
	}
	n.debug = on
}

func meanAbs(v []float32) string { return caffelog.Figure(simd.AbsSum(v) / float64(max(1, len(v)))) }

func (n *Net) forwardDebug(d *node) {
	for k, t := range d.tops {
		n.log.Infof("    [Forward] Layer %s, top blob %s data: %s", d.param.GetName(), n.names[d.topIDs[k]], meanAbs(t.Data()))
	}
	for i, b := range d.Params() {
		n.log.Infof("    [Forward] Layer %s, param blob %s data: %s", d.param.GetName(), n.paramName(d, i), meanAbs(b.Data()))
	}
}

func (n *Net) backwardDebug(d *node) {
	for j, b := range d.bottoms {
		if d.propagate[j] {
			n.log.Infof("    [Backward] Layer %s, bottom blob %s diff: %s", d.param.GetName(), n.names[d.bottomIDs[j]], meanAbs(b.Diff()))
		}
	}
	for i, id := range d.paramIDs {
		if n.params[id].needGrad {
			n.log.Infof("    [Backward] Layer %s, param blob %d diff: %s", d.param.GetName(), i, meanAbs(n.params[id].blob.Diff()))
		}
	}
}

func (n *Net) backwardSummary() {
	var absData, absDiff, sqData, sqDiff float64
	for _, l := range n.learnable {
		absData += simd.AbsSum(l.Blob.Data())
		absDiff += simd.AbsSum(l.Blob.Diff())
		sqData += simd.SumSq(l.Blob.Data())
		sqDiff += simd.SumSq(l.Blob.Diff())
	}
	n.log.Infof("    [Backward] All net params (data, diff): L1 norm = (%s, %s); L2 norm = (%s, %s)",
		caffelog.Figure(absData), caffelog.Figure(absDiff), caffelog.Figure(math.Sqrt(sqData)), caffelog.Figure(math.Sqrt(sqDiff)))
}

// UpdateDebug prints the mean absolute value of the weights and of their last update, which the solver leaves in the
// diffs.
func (n *Net) UpdateDebug() {
	for i := range n.params {
		p := &n.params[i]
		name, data := n.paramName(p.node, p.index), meanAbs(p.blob.Data())
		l := n.learnable[p.learnable]
		if l.Blob != p.blob {
			n.log.Infof("    [Update] Layer %s, param blob %s (owned by layer %s, param %d) data: %s", p.node.param.GetName(), name, l.Layer, l.Index, data)
			continue
		}
		n.log.Infof("    [Update] Layer %s, param %s data: %s; diff: %s", p.node.param.GetName(), name, data, meanAbs(p.blob.Diff()))
	}
}

// paramName is the name a prototxt gives a weight, or its index.
func (n *Net) paramName(d *node, i int) string {
	if name := n.params[d.paramIDs[i]].name; name != "" {
		return name
	}
	return strconv.Itoa(i)
}
