package modeltime

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel"
)

// mpePasses is how often each direction of a layer goes through an array of its top's size, on the management cores: values read
// and values written, counted in the source of swCaffe and of the Caffe that it is made from.
type mpePasses struct {
	passes  [3]float64 // by kernel.Direction
	besides bool       // the layer's other work is the CPEs'
	draws   bool       // forward, a random number for every value
}

// leftToMPE are the layers that a program with Software.OnMPE leaves to the management cores, wholly or in part.
//
//   - BatchNorm forward: two sums read the images; their mean is subtracted by a product with K = 1 (read, write), squared
//     (read, write), the variance spread (write), divided by (two reads, write), and the result copied (read, write). Backward: two
//     products of arrays (two reads, write), two sums, two spreads of which one is added to what is there (three accesses), a
//     sum of two arrays and a quotient (two reads, write each).
//   - Scale forward: a copy, since it works in place, scaling row by row, and the bias as a product with K = 1 (read, write each).
//     Backward: a product of arrays and a sum (two reads, write; read), the bias's sum; and scaling.
//   - Dropout forward: the mask (write) and a product of arrays (two reads, write). Backward: that product.
//   - The bias of a convolution: forward a product with K = 1 (read, write), backward a sum.
var leftToMPE = map[string]mpePasses{
	"BatchNorm":   {passes: [3]float64{kernel.Forward: 12, kernel.InputGradient: 17}},
	"Scale":       {passes: [3]float64{kernel.Forward: 6, kernel.WeightGradient: 5, kernel.InputGradient: 2}},
	"Dropout":     {passes: [3]float64{kernel.Forward: 4, kernel.InputGradient: 3}, draws: true},
	"Convolution": {passes: [3]float64{kernel.Forward: 2, kernel.WeightGradient: 1}, besides: true},
}

// onMPE replaces or adds to what a direction of layer i was charged.
func (r *runner) onMPE(i int, d kernel.Direction, l cpe.Ledger) cpe.Ledger {
	p, ok := leftToMPE[r.net.LayerType(i)]
	if !ok || !r.spec.Software.OnMPE || l.Time == 0 || p.passes[d] == 0 {
		return l
	}
	if p.besides && len(r.net.Layer(i).Params()) < 2 {
		return l // no bias
	}
	values := 0
	for _, t := range r.net.Tops(i) {
		values += t.Count()
	}
	share := float64(values) / float64(r.spec.CoreGroups)
	t := r.spec.MPETime(0, 4*share*p.passes[d])
	if p.draws && d == kernel.Forward {
		t += r.spec.SpecialTime(share)
	}
	if !p.besides {
		l = cpe.Ledger{}
	}
	l.Time += t
	l.MPE += t
	return l
}
