package modeltime

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	swnet "github.com/swcaffe/swcaffe/net"
)

// mpeLoops describes a layer's loops on the management cores, for each value of its top and by shape.Direction: the number of accesses to
// arrays (values read plus values written), or the number of cycles.
type mpeLoops struct {
	passes  [3]float64
	cycles  [3]float64
	touched [3]float64                        // with cycles: accesses to arrays, which take no time of their own
	arrays  func(n *swnet.Net, layer int) int // number of arrays accessed in this way; nil: one
	besides bool                              // the layer's other work runs on the CPEs
}

// leftToMPE lists the layers that a program with Software.OnMPE runs on the management cores, wholly or in part. Accesses are counted in the
// source of swCaffe and of the Caffe on which it is based. Of its functions on arrays, copies, sums, products, quotients, squares and roots
// run on the CPEs; filling, axpy and powers do not.
//
//   - BatchNorm forward: two sums read the images; their mean is subtracted by a product with K = 1 (read, write), squared (read,
//     write), the variance broadcast (write), divided by (two reads, write), and the result copied (read, write). Backward: two
//     products of arrays (two reads, write), two sums, two broadcasts of which one is added to the present values (three accesses), a
//     sum of two arrays and a quotient (two reads, write each).
//   - Scale forward: a copy, since it works in place, scaling row by row, and the bias as a product with K = 1 (read, write each).
//     Backward: a product of arrays and a sum (two reads, write; read), the bias's sum; and scaling.
//   - The bias of a convolution: forward a product with K = 1 (read, write), backward a sum.
//   - Eltwise forward, a sum: an axpy (two reads, write) for each bottom. Filling the result with zeros before is not counted.
//   - Split backward: an axpy for each top but the first two, whose sum the CPEs compute.
//
// For Dropout and LRN, cycles are known. Their loops are Caffe's own in all versions of swCaffe: a random number and a comparison for every value,
// and mostly powers. No source lists the latencies of an MPE's instructions, from which they could be derived. Each number of cycles is read from
// one line of swprofile/result171022, the log of 2017-10-22: AlexNet's drop6 takes 42.938 ms forward and 10.78 ms backward for 2^20 values,
// GoogLeNet's pool1/norm1 4.17211 and 4.7545 s for 25,690,112. The log's other lines and the paper's figure 8 are compared with them (TestLog,
// TestLayers). Their accesses are at least: Dropout's mask is written and read, its bottom read and its top written, backward two are read and
// one is written; LRN's bottom and scale are read, scale and top written, backward four arrays are read and one is written.
var leftToMPE = map[string]mpeLoops{
	"BatchNorm": {passes: [3]float64{shape.Forward: 12, shape.InputGradient: 17}},
	"Scale":     {passes: [3]float64{shape.Forward: 6, shape.WeightGradient: 5, shape.InputGradient: 2}},
	"Convolution": {passes: [3]float64{shape.Forward: 2, shape.WeightGradient: 1}, besides: true,
		arrays: func(n *swnet.Net, i int) int { return len(n.Layer(i).Params()) - 1 }},
	"Eltwise": {passes: [3]float64{shape.Forward: 3}, arrays: func(n *swnet.Net, i int) int { return len(n.Bottoms(i)) }},
	"Split": {passes: [3]float64{shape.InputGradient: 3}, besides: true,
		arrays: func(n *swnet.Net, i int) int { return max(0, len(n.Tops(i))-2) }},
	"Dropout": {cycles: [3]float64{shape.Forward: 59, shape.InputGradient: 15}, touched: [3]float64{shape.Forward: 4, shape.InputGradient: 3}},
	"LRN":     {cycles: [3]float64{shape.Forward: 235, shape.InputGradient: 268}, touched: [3]float64{shape.Forward: 4, shape.InputGradient: 5}},
}

// onMPE replaces the charge for a direction of layer i by the management cores' time, or adds that time to it.
func (r *runner) onMPE(i int, d shape.Direction, l cpe.Ledger) cpe.Ledger {
	p, ok := leftToMPE[r.net.LayerType(i)]
	if !ok || !r.spec.Software.OnMPE || l.Time == 0 || p.passes[d]+p.cycles[d] == 0 {
		return l
	}
	arrays := 1
	if p.arrays != nil {
		arrays = p.arrays(r.net, i)
	}
	values := float64(arrays) * float64(r.net.Tops(i)[0].Count()) / float64(r.spec.CoreGroups)
	t := r.spec.MPETime(0, 4*values*p.passes[d]) + r.spec.CycleTime(values*p.cycles[d])
	if !p.besides {
		l = cpe.Ledger{}
	}
	l.Time += t
	l.MPE += t
	l.MPEBytes += int64(4 * values * (p.passes[d] + p.touched[d]) * float64(r.spec.CoreGroups))
	return l
}
