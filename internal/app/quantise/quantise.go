package quantise

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Options say how a net is quantised.
type Options struct {
	Iterations int    // batches that are measured
	Method     string // of Methods
	Percentile float64
	Keep       *regexp.Regexp // the names of layers that stay in fp32; nil: none
	Fold       bool           // batch normalisations are multiplied into weights
	Correct    bool           // biases get the mean error of their channel added
	// Build makes a net for inference that keeps all blobs, of layers for calibration or for use. Its caller closes it.
	Build func(p *caffepb.NetParameter) (*swnet.Net, error)
	// Feed, if not nil, gives a net for calibration other data.
	Feed func(p *caffepb.NetParameter) error
	// Progress is called after each batch, with its number and that of all.
	Progress func(done, all int)
}

// Result is a quantised net.
type Result struct {
	Net     *caffepb.NetParameter
	Weights *caffepb.NetParameter // in fp32
	Layers  []Layer               // that can be quantised, in their order
	Folded  []string              // layers that are in others' weights
}

// Layer is what rounding costs in a layer.
type Layer struct {
	Name, Type string
	Kept       string // why it stays in fp32; "" if it does not
	Input
	Channels  int     // output channels
	SNR       float64 // of the outputs, in decibels: their squares to those of their errors, if the layer's inputs are those of the net in fp32
	Saturated float64 // share of inputs beyond the range of bytes
	Work      float64 // multiply-adds of a batch
	Share     float64 // of the net's multiply-adds in layers that can be quantised
}

// Run quantises the net p with the weights that load puts into a net of it.
func Run(p *caffepb.NetParameter, load func(*swnet.Net) error, o Options) (*Result, error) {
	q := &run{Options: o, Result: Result{Net: proto.CloneOf(p)}}
	q.Net.Precision = caffepb.Precision_FP32.Enum()
	for _, l := range q.Net.Layer {
		l.QuantizationParam, l.Precision = nil, nil
	}
	if err := q.read(load); err != nil {
		return nil, err
	}
	for _, step := range []func() error{q.calibrate, q.compare} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	q.Net.Precision = caffepb.Precision_INT8.Enum()
	q.Result.Weights = q.weights.file(q.Net)
	return &q.Result, nil
}

// run is a quantisation under way.
type run struct {
	Options
	Result
	weights weights
}

// read builds the net as it is, takes its weights, and folds layers into others.
func (q *run) read(load func(*swnet.Net) error) error {
	n, err := q.Build(q.Net)
	if err != nil {
		return err
	}
	defer n.Close()
	if err := load(n); err != nil {
		return err
	}
	if q.weights = weightsOf(n); q.Fold {
		q.Folded = fold(q.Net, n, q.weights)
	}
	return nil
}

// build makes a net for calibration in a precision, with the present weights.
func (q *run) build(precision caffepb.Precision) (*swnet.Net, error) {
	p := proto.CloneOf(q.Net)
	p.Precision = precision.Enum()
	if q.Feed != nil {
		if err := q.Feed(p); err != nil {
			return nil, err
		}
	}
	n, err := q.Build(p)
	if err != nil {
		return nil, err
	}
	if err := n.CopyWeights(q.weights.file(q.Net)); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// calibrate measures the inputs of all layers that can be quantised, and gives the layers their scales.
func (q *run) calibrate() error {
	n, err := q.build(caffepb.Precision_FP32)
	if err != nil {
		return err
	}
	defer n.Close()
	histograms := map[int]*histogram{}
	total := 0.0
	for i := range n.NumLayers() {
		l, ok := q.examine(n, i)
		if !ok {
			continue
		}
		total += l.Work
		if q.Layers = append(q.Layers, l); l.Kept == "" {
			histograms[i] = &histogram{}
		}
	}
	if len(histograms) == 0 {
		return fmt.Errorf("net %q has no layer to quantise: those are %v", n.Name(), quantisable())
	}
	for batch := range q.Iterations {
		for i := range n.NumLayers() {
			for _, b := range bottoms(n, i, histograms) {
				histograms[i].add(b)
			}
			if _, err := n.ForwardLayer(i); err != nil {
				return err
			}
		}
		q.Progress(batch+1, 2*q.Iterations)
	}
	k := 0
	for i := range n.NumLayers() {
		if k == len(q.Layers) || n.LayerName(i) != q.Layers[k].Name {
			continue
		}
		l := &q.Layers[k]
		l.Share = l.Work / total
		k++
		h := histograms[i]
		if h == nil {
			continue
		}
		if l.Input, err = h.choose(q.Method, q.Percentile); err != nil {
			return err
		}
		q.give(l)
	}
	return nil
}

// bottoms returns the inputs of a layer that is measured.
func bottoms(n *swnet.Net, i int, measured map[int]*histogram) (list [][]float32) {
	if measured[i] != nil {
		for _, b := range n.Bottoms(i) {
			list = append(list, b.Data())
		}
	}
	return list
}

// quantisable lists the types of layers that can be quantised.
func quantisable() (types []string) {
	for _, t := range layers.Types() {
		if t.Computes(cpe.INT8) {
			types = append(types, t.Name)
		}
	}
	return types
}

// examine describes layer i; ok is false if layers of its type cannot be quantised.
func (q *run) examine(n *swnet.Net, i int) (l Layer, ok bool) {
	l = Layer{Name: n.LayerName(i), Type: n.LayerType(i)}
	if !slices.Contains(quantisable(), l.Type) {
		return l, false
	}
	w := n.Layer(i).Params()[0]
	depth := w.CountFrom(1)
	l.Channels = w.Dim(0)
	if n.LayerParam(i).GetInnerProductParam().GetTranspose() {
		l.Channels, depth = w.Dim(1), w.Dim(0)
	}
	for _, t := range n.Tops(i) {
		l.Work += float64(t.Count()) * float64(depth)
	}
	switch err := quant.Fits(depth); {
	case q.Keep != nil && q.Keep.MatchString(l.Name):
		l.Kept = "-keep"
	case channelByChannel(n.LayerParam(i), n.Bottoms(i)[0], w):
		l.Kept = "it has one channel a group, and is as fast in fp32"
	case only(q.Net, l.Name) == nil:
		l.Kept = "other layers have its name, or it is not in all phases"
	case err != nil:
		l.Kept = err.Error()
	}
	return l, true
}

// channelByChannel reports whether a layer is a convolution whose weights w have one of the bottom's several channels each.
func channelByChannel(l *caffepb.LayerParameter, bottom, w *blob.Blob) bool {
	return l.ConvolutionParam != nil && w.Dim(1) == 1 && bottom.Dim(int(l.GetConvolutionParam().GetAxis())) > 1
}

// give writes a layer's scales.
func (q *run) give(l *Layer) {
	p := only(q.Net, l.Name)
	w := q.weights[l.Name][0].Data
	if p.GetInnerProductParam().GetTranspose() {
		w = transposed(w, l.Channels)
	}
	p.QuantizationParam = &caffepb.QuantizationParameter{InputScale: proto.Float32(l.Scale), WeightScale: WeightScales(w, l.Channels)}
	if l.Zero != 0 {
		p.QuantizationParam.InputZeroPoint = proto.Uint32(l.Zero)
	}
}

// transposed returns the transpose of a matrix with a number of columns.
func transposed(w []float32, columns int) []float32 {
	t, rows := make([]float32, len(w)), len(w)/columns
	for i, v := range w {
		t[i%columns*rows+i/columns] = v
	}
	return t
}

// compare runs the layers in fp32 and in int8 on the same inputs, for the report, and corrects biases.
func (q *run) compare() error {
	exact, err := q.build(caffepb.Precision_FP32)
	if err != nil {
		return err
	}
	defer exact.Close()
	rounded, err := q.build(caffepb.Precision_INT8)
	if err != nil {
		return err
	}
	defer rounded.Close()
	errors := map[string]*deviation{}
	for batch := range q.Iterations {
		for i := range exact.NumLayers() {
			quantised := only(q.Net, exact.LayerName(i)).GetQuantizationParam() != nil
			if quantised {
				for k, b := range exact.Bottoms(i) {
					copy(rounded.Bottoms(i)[k].Data(), b.Data())
				}
			}
			d := errors[exact.LayerName(i)]
			if quantised && d == nil {
				d = newDeviation(only(q.Net, exact.LayerName(i)))
				errors[exact.LayerName(i)] = d
			}
			if quantised {
				d.saturation(exact.Bottoms(i)) // before a layer in place writes
			}
			if _, err := exact.ForwardLayer(i); err != nil {
				return err
			}
			if !quantised {
				continue
			}
			if _, err := rounded.ForwardLayer(i); err != nil {
				return err
			}
			for k, top := range exact.Tops(i) {
				d.add(top.Data(), rounded.Tops(i)[k].Data(), top.Count()/max(1, outer(exact.LayerParam(i), top.Shape())*d.channels()))
			}
		}
		q.Progress(q.Iterations+batch+1, 2*q.Iterations)
	}
	for i := range q.Layers {
		l := &q.Layers[i]
		d := errors[l.Name]
		if d == nil {
			continue
		}
		l.Saturated = d.beyond / max(1, d.inputs)
		l.SNR = d.ratio(q.Correct)
		if q.Correct && !shared(only(q.Net, l.Name)) {
			q.correct(l.Name, d)
		}
	}
	return nil
}

// outer is the number of items of a top: the extents before the channels.
func outer(l *caffepb.LayerParameter, shape []int) int {
	axis := int(l.GetConvolutionParam().GetAxis())
	if l.GetType() == "InnerProduct" {
		axis = len(shape) - 1
	}
	if axis < 0 {
		axis += len(shape)
	}
	n := 1
	for _, extent := range shape[:axis] {
		n *= extent
	}
	return n
}

// correct adds the mean errors of channels to biases.
func (q *run) correct(name string, d *deviation) {
	blobs, means := q.weights[name], d.means()
	if len(blobs) > 1 {
		for o := range means {
			means[o] += float64(blobs[1].Data[o])
		}
	}
	addBiasTerm(only(q.Net, name))
	q.weights[name] = []*caffepb.BlobProto{blobs[0], biases(means)}
}

// deviation are the differences of a layer's outputs from those in fp32.
type deviation struct {
	scales         *quant.Scales
	sums           []float64 // of the differences, by channel
	squares        float64   // of the differences
	power          float64   // the squares of the outputs in fp32
	values         float64   // the number of outputs of a channel
	beyond, inputs float64
}

func newDeviation(l *caffepb.LayerParameter) *deviation {
	p := l.GetQuantizationParam()
	s, err := quant.New(p.GetInputScale(), p.GetInputZeroPoint(), p.GetWeightScale(), len(p.GetWeightScale()))
	if err != nil {
		panic("quantise: " + err.Error())
	}
	return &deviation{scales: s, sums: make([]float64, len(p.GetWeightScale()))}
}

func (d *deviation) channels() int { return len(d.sums) }

// add compares outputs: channels of a number of pixels.
func (d *deviation) add(exact, rounded []float32, pixels int) {
	for i, v := range exact {
		e := float64(v) - float64(rounded[i])
		d.sums[i/pixels%len(d.sums)] += e
		d.squares += e * e
		d.power += float64(v) * float64(v)
	}
	d.values += float64(len(exact)) / float64(len(d.sums))
}

// means returns the mean errors of channels.
func (d *deviation) means() []float64 {
	list := make([]float64, len(d.sums))
	for o, sum := range d.sums {
		list[o] = sum / max(1, d.values)
	}
	return list
}

// ratio returns the ratio of signal and noise in decibels, without the mean errors if they are corrected. It is 120 at most.
func (d *deviation) ratio(corrected bool) float64 {
	noise := d.squares
	for _, m := range d.means() {
		if corrected {
			noise -= m * m * d.values
		}
	}
	if noise = max(noise, 1e-12*d.power); noise == 0 { // outputs that are all 0 are exact
		return 120
	}
	return 10 * math.Log10(d.power/noise)
}

// saturation counts inputs that are further from the range of bytes than half a step.
func (d *deviation) saturation(bottoms []*blob.Blob) {
	low, high := -(float64(d.scales.Zero)+0.5)*float64(d.scales.Input), (quant.MostInput-float64(d.scales.Zero)+0.5)*float64(d.scales.Input)
	for _, b := range bottoms {
		for _, v := range b.Data() {
			if x := float64(v); x < low || x > high {
				d.beyond++
			}
		}
		d.inputs += float64(b.Count())
	}
}
