package net

import (
	"math"
	"strconv"

	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// SetDebugInfo turns the lines of debug_info on or off: the mean absolute value of every blob, gradient and weight as it is computed. From
// then on layers are not fused. At first they are on if the net's debug_info says so.
func (n *Net) SetDebugInfo(on bool) {
	if on && !n.graph.OneByOne {
		n.graph.OneByOne = true
		n.replan()
	}
	n.debug = on
}

func meanAbs(v []float32) string { return caffelog.Figure(vec.AbsSum(v) / float64(max(1, len(v)))) }

func (n *Net) forwardDebug(d *node) {
	for k, t := range d.Tops {
		n.log.Infof("    [Forward] Layer %s, top blob %s data: %s", d.param.GetName(), n.graph.Names[d.TopIDs[k]], meanAbs(t.Data()))
	}
	for i, b := range d.Params() {
		n.log.Infof("    [Forward] Layer %s, param blob %s data: %s", d.param.GetName(), n.paramName(d, i), meanAbs(b.Data()))
	}
}

// backwardDebug prints the gradients that are requested. As in Caffe, these include BatchNorm's statistics unless the prototxt gives their
// lr_mult: the layer sets it to 0, and the gradients stay 0.
func (n *Net) backwardDebug(d *node) {
	for j, b := range d.Bottoms {
		if d.Propagate[j] {
			n.log.Infof("    [Backward] Layer %s, bottom blob %s diff: %s", d.param.GetName(), n.graph.Names[d.BottomIDs[j]], meanAbs(b.Diff()))
		}
	}
	for i, id := range d.paramIDs {
		if n.params[id].needGrad || !d.frozen(i) {
			n.log.Infof("    [Backward] Layer %s, param blob %d diff: %s", d.param.GetName(), i, meanAbs(n.params[id].blob.Diff()))
		}
	}
}

func (n *Net) backwardSummary() {
	var absData, absDiff, sqData, sqDiff float64
	for _, l := range n.learnable {
		absData += vec.AbsSum(l.Blob.Data())
		absDiff += vec.AbsSum(l.Blob.Diff())
		sqData += vec.SumSq(l.Blob.Data())
		sqDiff += vec.SumSq(l.Blob.Diff())
	}
	n.log.Infof("    [Backward] All net params (data, diff): L1 norm = (%s, %s); L2 norm = (%s, %s)",
		caffelog.Figure(absData), caffelog.Figure(absDiff), caffelog.Figure(math.Sqrt(sqData)), caffelog.Figure(math.Sqrt(sqDiff)))
}

// paramName returns a weight's name in the prototxt, or its index.
func (n *Net) paramName(d *node, i int) string {
	if name := n.params[d.paramIDs[i]].name; name != "" {
		return name
	}
	return strconv.Itoa(i)
}
