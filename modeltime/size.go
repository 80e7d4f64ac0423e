package modeltime

import (
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Size is the number of a net's parameters, and the operations of its forward pass for one image.
type Size struct {
	Model  string      `json:"model"`
	Batch  int         `json:"batch"`
	Layers []LayerSize `json:"layers"`
	// Parameters is the number of weights; shared weights count once. Statistics is the number of values that BatchNorm layers store, which
	// are not weights.
	Parameters int64 `json:"parameters"`
	Statistics int64 `json:"statistics"`
	// Flops are two for each multiply-add of convolutions, inner products and recurrent layers, as in publications. They are whole numbers,
	// in float64 because absurdly large nets exceed int64.
	Flops float64 `json:"flops_per_image"`
}

// LayerSize is one layer's part.
type LayerSize struct {
	Name       string  `json:"name"`
	Type       string  `json:"type"`
	Tops       [][]int `json:"tops"` // shapes of the tops
	Parameters int64   `json:"parameters"`
	Statistics int64   `json:"statistics"`
	Flops      float64 `json:"flops_per_image"`
}

// SizeOptions configure Measure.
type SizeOptions struct {
	State *caffepb.NetState
	Batch int // 0: the net's batch
	Log   *logrus.Logger
}

// Measure counts parameters and FLOPs. It builds only the net's shapes: it fills no weight and runs no layer. Image files are not needed if
// the net gives the images' size.
func Measure(file *swproto.Net, o SizeOptions) (*Size, error) {
	spec, err := cpe.Load("sw26010")
	if err != nil {
		return nil, err
	}
	m, err := cpe.New(spec, cpe.CostOnly)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	p := proto.CloneOf(file.Param)
	if o.Batch > 0 {
		if err := SetBatch(p, o.Batch); err != nil {
			return nil, err
		}
	}
	standIn(p)
	d := &layers.Device{Engine: layers.MPE, Machine: m, Random: layers.NewRandom(0), Log: o.Log}
	n, err := swnet.New(p, swnet.Options{State: o.State, Device: d, Pos: file.LayerPos})
	if err != nil {
		return nil, err
	}
	defer n.Close()
	if n.BatchSize() == 0 {
		return nil, fmt.Errorf("%s: %w", file.Path, errNoImages)
	}
	return measure(n), nil
}

var errNoImages = errors.New("the net's batch is empty: figures for an image need at least one image")

func measure(n *swnet.Net) *Size {
	s := &Size{Model: n.Name(), Batch: n.BatchSize()}
	own := map[*blob.Blob]bool{} // weights that are not shared from another layer
	for _, l := range n.Learnable() {
		own[l.Blob] = true
	}
	for i := range n.NumLayers() {
		l := LayerSize{Name: n.LayerName(i), Type: n.LayerType(i), Flops: 2 * multiplyAdds(n, i) / float64(s.Batch)}
		for _, t := range n.Tops(i) {
			l.Tops = append(l.Tops, t.Shape())
		}
		for k, w := range n.Layer(i).Params() {
			switch {
			case !own[w]:
			case l.Type == "BatchNorm" && k < 3: // NVCaffe's has two weights behind them
				l.Statistics += int64(w.Count())
			default:
				l.Parameters += int64(w.Count())
			}
		}
		s.Layers = append(s.Layers, l)
		s.Parameters += l.Parameters
		s.Statistics += l.Statistics
		s.Flops += l.Flops
	}
	return s
}

// multiplyAdds counts the multiply-adds of layer i forward, for a whole batch; padding counts like pixels.
func multiplyAdds(n *swnet.Net, i int) float64 {
	w := n.Layer(i).Params()
	sum := 0.0
	switch n.LayerType(i) {
	case "Convolution", "ConvolutionDepthwise", "DepthwiseConvolution":
		for _, t := range n.Tops(i) {
			sum += float64(t.Count()) * float64(w[0].CountFrom(1))
		}
	case "Deconvolution":
		for _, b := range n.Bottoms(i) {
			sum += float64(b.Count()) * float64(w[0].CountFrom(1))
		}
	case "InnerProduct":
		t := n.Tops(i)[0]
		sum = float64(t.Count()/t.Dim(t.NumAxes()-1)) * float64(w[0].Count())
	case "Lstm":
		sum = float64(n.Tops(i)[0].Dim(0)) * float64(w[0].Count()+w[1].Count())
	case "LSTM", "RNN":
		t := n.Tops(i)[0]
		steps, streams := t.Dim(0)*t.Dim(1), t.Dim(1)
		for k, m := range w {
			switch {
			case m.NumAxes() < 2: // a bias
			case k == staticWeight && len(w)%2 == 0:
				sum += float64(streams) * float64(m.Count())
			default:
				sum += float64(steps) * float64(m.Count())
			}
		}
	}
	return sum
}

// staticWeight is the index of the weights of a recurrent layer's static input. With a static input, recurrent layers have 4 and 6
// parameters, else 3 and 5.
const staticWeight = 2
