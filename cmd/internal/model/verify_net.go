package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// readForVerify reads a net and prepares it for comparison in both directions. Input layers get the requested batch size. A net
// without a loss (a deploy.prototxt) gets one: the sum of its outputs times random numbers, so that gradients differ from value
// to value in the whole net. Instead of the outputs of a layer without gradient, such as detections, it counts that layer's inputs. The names
// of the layers that compute it are returned.
func readForVerify(e *cli.Env, o *verifyOptions, phase caffepb.Phase, device *layers.Device) (file *swproto.Net, losses []string, err error) {
	if file, err = cli.ReadNet(e, o.model, &o.state); err != nil {
		return nil, nil, err
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
		return nil, nil, err
	}
	defer n.Close()
	for i := range n.NumLayers() {
		if n.NeedsBackward(i) {
			return file, nil, nil
		}
	}
	for _, name := range lossBlobs(n, file.Param) {
		added := randomLoss(name, n.Blob(name))
		file.Param.Layer = append(file.Param.Layer, added...)
		losses = append(losses, added[1].GetName())
	}
	return file, losses, nil
}

// lossBlobs lists the blobs of a net without a loss that get one: its outputs, or before layers without gradient their inputs, as far as they
// depend on weights.
func lossBlobs(n *swnet.Net, p *caffepb.NetParameter) (list []string) {
	built := map[string]bool{}
	for i := range n.NumLayers() {
		built[n.LayerName(i)] = true
	}
	g := graph{n, slices.DeleteFunc(slices.Clone(p.Layer), func(l *caffepb.LayerParameter) bool { return !built[l.GetName()] })}
	var visit func(name string, before int)
	visit = func(name string, before int) {
		i := g.maker(name, before)
		switch {
		case i < 0 || slices.Contains(list, name):
		case !g.stops(i):
			if g.weighted(name, before) {
				list = append(list, name)
			}
		default:
			for _, bottom := range g.layers[i].Bottom {
				visit(bottom, i)
			}
		}
	}
	for _, out := range n.Outputs() {
		visit(out.Name, len(g.layers))
	}
	return list
}

// graph is a net with its layers as the prototxt has them.
type graph struct {
	net    *swnet.Net
	layers []*caffepb.LayerParameter
}

// maker returns the last layer before a layer that writes a blob, or -1.
func (g *graph) maker(name string, before int) int {
	for i := before - 1; i >= 0; i-- {
		if slices.Contains(g.layers[i].Top, name) {
			return i
		}
	}
	return -1
}

// stops reports whether a layer has no gradient.
func (g *graph) stops(i int) bool {
	kind, err := layers.Find(g.layers[i].GetType())
	return err == nil && kind.NoGradient
}

// weighted reports whether gradients of a blob, as it is before a layer, reach weights.
func (g *graph) weighted(name string, before int) bool {
	i := g.maker(name, before)
	if i < 0 || g.stops(i) {
		return false
	}
	return len(g.net.Params(g.layers[i].GetName())) > 0 || slices.ContainsFunc(g.layers[i].Bottom, func(bottom string) bool { return g.weighted(bottom, i) })
}

// randomLoss returns layers for the sum of a blob's values times random numbers, which drawFactors draws.
func randomLoss(name string, b *blob.Blob) []*caffepb.LayerParameter {
	shape := &caffepb.BlobShape{}
	for _, d := range b.Shape() {
		shape.Dim = append(shape.Dim, int64(d))
	}
	factors, product := "verify_"+name+"_factors", "verify_"+name+"_loss"
	return []*caffepb.LayerParameter{{
		Name: proto.String(factors), Type: proto.String("Input"), Top: []string{factors}, InputParam: &caffepb.InputParameter{Shape: []*caffepb.BlobShape{shape}},
	}, {
		Name: proto.String(product), Type: proto.String("Eltwise"), Bottom: []string{name, factors}, Top: []string{product},
		EltwiseParam: &caffepb.EltwiseParameter{Operation: caffepb.EltwiseParameter_PROD.Enum()}, LossWeight: []float32{1},
	}}
}

// drawFactors gives the second bottom of a random loss, in both nets, the shape that the first one has now, and the same Gaussian values. A
// layer such as Proposal decides in Forward how many values there are.
func drawFactors(a, b []*blob.Blob, random *layers.Random) {
	a[1].Reshape(a[0].Shape()...)
	b[1].Reshape(a[0].Shape()...)
	for k := range a[1].Data() {
		a[1].Data()[k] = float32(random.NormFloat64())
	}
	copy(b[1].Data(), a[1].Data())
}

// fillInputs fills Input layers with Gaussian values, and with indices where an Embed layer reads them. Labels, targets and marks of sequences,
// which force_backward passes over, are 0 or 1; regions are of the first image.
func fillInputs(n *swnet.Net, seed uint64) {
	random := layers.NewRandom(seed)
	indices, regions := map[*blob.Blob]int{}, map[*blob.Blob]bool{}
	for i := n.NumLayers() - 1; i >= 0; i-- {
		kind, _ := layers.Find(n.LayerType(i))
		bottoms := n.Bottoms(i)
		given := slices.Concat(kind.NoForceBackward, kind.NamedRows)
		if kind.Name == "Accuracy" || kind.Name == "SegAccuracy" {
			given = []int{1}
		}
		for _, k := range given {
			if k < 0 {
				k += len(bottoms)
			}
			if k < len(bottoms) && kind.Name != "Embed" {
				indices[bottoms[k]], regions[bottoms[k]] = 2, slices.Contains(kind.NamedRows, k)
			}
		}
		if kind.Name == "Embed" {
			indices[bottoms[0]] = int(n.LayerParam(i).GetEmbedParam().GetInputDim())
		}
		for _, t := range n.Tops(i) {
			if indices[t] > 0 && slices.Contains(moving, kind.Name) {
				for _, b := range bottoms {
					indices[b], regions[b] = max(indices[b], indices[t]), regions[b] || regions[t]
				}
			}
		}
	}
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		for _, t := range n.Tops(i) {
			for k := range t.Data() {
				t.Data()[k] = float32(random.NormFloat64())
				if most := indices[t]; most > 0 {
					t.Data()[k] = float32(random.IntN(most))
				}
			}
			if regions[t] && t.Count()%5 == 0 {
				fillRegions(t.Data(), random)
			}
		}
	}
}

// moving are types whose tops have values of their bottoms.
var moving = []string{"Concat", "Crop", "Flatten", "Interp", "Permute", "Reshape", "Reverse", "Slice", "Split", "Tile", "Transpose"}

// fillRegions writes rows of an image, the first, and the corners of a box.
func fillRegions(rows []float32, random *layers.Random) {
	for ; len(rows) > 0; rows = rows[5:] {
		rows[0] = 0
		for k := 1; k < 3; k++ {
			rows[k] = float32(random.IntN(32))
			rows[k+2] = rows[k] + float32(random.IntN(64))
		}
	}
}

// fillBlankWeights initialises weights that are all zero, for example of a deploy.prototxt without -weights. Variance 2 / fan in
// keeps the size of signals (Gaussian, He et al. 2015); biases get deviation 0.1.
func fillBlankWeights(n *swnet.Net, seed uint64) {
	random := layers.NewRandom(seed + 1)
	fillBlankStatistics(n)
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

// fillBlankStatistics sets the variances of batch normalisations without stored statistics to 1. Random numbers would make half of them
// negative.
func fillBlankStatistics(n *swnet.Net) {
	for i := range n.NumLayers() {
		p := n.Layer(i).Params()
		var statistics []*blob.Blob // the last one holds the variances, or the factor that divides both
		switch kind := n.LayerType(i); {
		case kind == "BatchNorm":
			statistics = p[:3]
		case kind == "BN" && len(p) == 4:
			statistics = p[2:]
		default:
			continue
		}
		blank := true
		for _, s := range statistics[1:] {
			blank = blank && !slices.ContainsFunc(s.Data(), func(v float32) bool { return v != 0 })
		}
		for _, s := range statistics[1:] {
			for k := range s.Data() {
				if blank {
					s.Data()[k] = 1
				}
			}
		}
	}
}

// difference is max|a-b| / max|a|, or max|a-b| if a is zero. It is infinite if only one of two values is NaN.
func difference(a, b []float32) float64 { return relativeDifference(a, b, 0) }

// relativeDifference is difference with a divisor of at least least.
func relativeDifference(a, b []float32, least float64) float64 {
	worst, largest := 0.0, least
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
	fmt.Fprintf(e.Tables, "%-40s %-20s %10s %10s %10s\n", "layer", "type", "forward", "backward", "weights")
	failed, overflow, rounded := 0, 0, 0
	for _, r := range rows {
		mark := ""
		switch {
		case r.overflow:
			mark = "not compared: overflow"
			overflow++
		case !r.within(o.tolerance):
			mark = "ABOVE TOLERANCE"
			failed++
		case r.rounds != rounding{}:
			mark = "factors in bfloat16"
			rounded++
		}
		line := fmt.Sprintf("%-40s %-20s %10s %10s %10s  %s", r.name, r.kind, cell(r.forward), cell(r.backward), cell(r.weight), mark)
		fmt.Fprintln(e.Tables, strings.TrimRight(line, " "))
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d layers differ by more than %g between the MPE path and the CPE path on machine %s",
			o.model, failed, len(rows), o.tolerance, o.device.MachineName)
	}
	if overflow > 0 {
		e.Log.Warnf("%s: %d of %d layers read values above %g, or values that are not numbers, and were not compared", o.model, overflow, len(rows), mostValue)
	}
	if rounded > 0 {
		fmt.Fprintf(e.Tables, "%d layers round factors to bfloat16, on both paths\n", rounded)
	}
	fmt.Fprintf(e.Tables, "all %d layers agree within %g on machine %s\n", len(rows)-overflow, o.tolerance, o.device.MachineName)
	return nil
}
