package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// readForVerify reads a net and prepares it for comparison in both directions. Input layers get the requested batch size. A net
// without a loss (a deploy.prototxt) gets one: the sum of its outputs times random numbers, so that gradients differ from value
// to value in the whole net.
func readForVerify(e *cli.Env, o *verifyOptions, phase caffepb.Phase, device *layers.Device) (*swproto.Net, error) {
	file, err := cli.ReadNet(e, o.model)
	if err != nil {
		return nil, err
	}
	for _, l := range file.Param.Layer {
		for _, s := range l.GetInputParam().GetShape() {
			if o.batch > 0 && len(s.Dim) > 0 {
				s.Dim[0] = int64(o.batch)
			}
		}
	}
	n, err := cli.BuildNet(file, phase, &o.state, swnet.Options{Device: device})
	if err != nil {
		return nil, err
	}
	defer n.Close()
	outputs := n.Outputs()
	for i := range n.NumLayers() {
		if n.NeedsBackward(i) {
			return file, nil
		}
	}
	for _, out := range outputs {
		file.Param.Layer = append(file.Param.Layer, randomLoss(out)...)
	}
	return file, nil
}

// randomLoss returns layers for the sum of a blob's values times Gaussian random numbers.
func randomLoss(out swnet.Output) []*caffepb.LayerParameter {
	shape := &caffepb.BlobShape{}
	for _, d := range out.Blob.Shape() {
		shape.Dim = append(shape.Dim, int64(d))
	}
	factors, product := "verify_"+out.Name+"_factors", "verify_"+out.Name+"_loss"
	return []*caffepb.LayerParameter{{
		Name: proto.String(factors), Type: proto.String("DummyData"), Top: []string{factors},
		DummyDataParam: &caffepb.DummyDataParameter{
			Shape: []*caffepb.BlobShape{shape}, DataFiller: []*caffepb.FillerParameter{{Type: proto.String("gaussian")}},
		},
	}, {
		Name: proto.String(product), Type: proto.String("Eltwise"), Bottom: []string{out.Name, factors}, Top: []string{product},
		EltwiseParam: &caffepb.EltwiseParameter{Operation: caffepb.EltwiseParameter_PROD.Enum()}, LossWeight: []float32{1},
	}}
}

// fillInputs fills Input layers with Gaussian values.
func fillInputs(n *swnet.Net, seed uint64) {
	random := layers.NewRandom(seed)
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		for _, t := range n.Tops(i) {
			for k := range t.Data() {
				t.Data()[k] = float32(random.NormFloat64())
			}
		}
	}
}

// fillBlankWeights initialises weights that are all zero, for example of a deploy.prototxt without -weights. Variance 2 / fan in
// keeps the size of signals (Gaussian, He et al. 2015); biases get deviation 0.1.
func fillBlankWeights(n *swnet.Net, seed uint64) {
	random := layers.NewRandom(seed + 1)
	for _, w := range n.Learnable() {
		data := w.Blob.Data()
		if slices.ContainsFunc(data, func(v float32) bool { return v != 0 }) {
			continue
		}
		deviation := 0.1
		if w.Blob.NumAxes() > 1 {
			deviation = math.Sqrt(2 / float64(w.Blob.CountFrom(1)))
		}
		for k := range data {
			data[k] = float32(deviation * random.NormFloat64())
		}
	}
}

// difference is max|a-b| / max|a|, or max|a-b| if a is zero. It is infinite if only one of two values is NaN.
func difference(a, b []float32) float64 {
	var worst, largest float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		if math.IsNaN(x) != math.IsNaN(y) {
			return math.Inf(1)
		}
		largest = max(largest, math.Abs(x))
		if x != y && !math.IsNaN(x) {
			worst = max(worst, math.Abs(x-y))
		}
	}
	if largest == 0 || math.IsNaN(largest) {
		return worst
	}
	return worst / largest
}

func printVerify(e *cli.Env, rows []verifyRow, o *verifyOptions) error {
	cell := func(v float64) string {
		if v < 0 {
			return "-"
		}
		return fmt.Sprintf("%.2e", v)
	}
	fmt.Fprintf(e.Stdout, "%-40s %-20s %10s %10s %10s\n", "layer", "type", "forward", "backward", "weights")
	failed := 0
	for _, r := range rows {
		mark := ""
		if max(r.forward, r.backward, r.weight) > o.tolerance {
			mark = "ABOVE TOLERANCE"
			failed++
		}
		line := fmt.Sprintf("%-40s %-20s %10s %10s %10s  %s", r.name, r.kind, cell(r.forward), cell(r.backward), cell(r.weight), mark)
		fmt.Fprintln(e.Stdout, strings.TrimRight(line, " "))
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d layers differ by more than %g between the MPE path and the CPE path on machine %s",
			o.model, failed, len(rows), o.tolerance, o.device.MachineName)
	}
	fmt.Fprintf(e.Stdout, "all %d layers agree within %g on machine %s\n", len(rows), o.tolerance, o.device.MachineName)
	return nil
}
