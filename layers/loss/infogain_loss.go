package loss

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "InfogainLoss", Doc: "mean of -sum over classes of H[label, class] * log softmax(x)[class]; a second top gets the probabilities",
		Couples: infogainCoupling,
		Params:  []string{"infogain_loss_param", "loss_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			l := &infogainLoss{probabilityLoss: probabilityLoss{Base: layers.Base{Param: p, Device: d}, axis: int(p.GetInfogainLossParam().GetAxis())}}
			l.lossOf, l.classGrad, l.gradTile = l.weightedRun, l.gradient, l.gradients
			if l.MPE() {
				l.lossOf = l.weighted
			}
			return l
		},
		Bottoms: layers.Between(2, 3), Tops: layers.Between(1, 2), Loss: true, NoForceBackward: []int{1, 2},
	})
}

// infogainLoss is Caffe's InfogainLoss layer along infogain_loss_param.axis. The matrix H, classes x classes, is the third bottom or the
// BlobProto in the file infogain_loss_param.source. The gradient with respect to the score of a class is p[class] * (sum of row H[label]) -
// H[label, class]. Probabilities are at least 1e-20.
type infogainLoss struct {
	probabilityLoss
	file    *blob.Blob // H, if it comes from a file
	h       []float32
	rowSums []float64
}

const leastProbability = 1e-20

func (l *infogainLoss) SetUp(bottom, top []*blob.Blob) error {
	if p := l.Param.GetLossParam(); p != nil && p.Normalize != nil {
		return errors.New("loss_param.normalize is deprecated and InfogainLoss does not take it: use normalization")
	}
	if err := l.probabilityLoss.SetUp(bottom, top); err != nil || len(bottom) > 2 {
		return err
	}
	source := l.Param.GetInfogainLossParam().GetSource()
	if source == "" {
		return errors.New("infogain matrix source must be specified: infogain_loss_param.source or a third bottom")
	}
	var p caffepb.BlobProto
	if err := swproto.ReadBinary(source, &p); err != nil {
		return err
	}
	l.file = blob.New(0)
	if err := l.file.FromProto(&p); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	return nil
}

func (l *infogainLoss) matrix(bottom []*blob.Blob) *blob.Blob {
	if l.file != nil {
		return l.file
	}
	return bottom[2]
}

func (l *infogainLoss) Reshape(bottom, top []*blob.Blob) error {
	if err := l.probabilityLoss.Reshape(bottom, top); err != nil {
		return err
	}
	n, h := l.dims[1], l.matrix(bottom)
	if h.Count() != n*n {
		return fmt.Errorf("the infogain matrix must be %d x %d, classes x classes: it has shape %s", n, n, h.ShapeString())
	}
	if len(l.rowSums) != n {
		l.rowSums = pages.Make[float64](n)
	}
	return nil
}

func (l *infogainLoss) Forward(bottom, top []*blob.Blob) error {
	l.h = l.matrix(bottom).Data()
	for k := range l.rowSums {
		l.rowSums[k] = 0
		for _, v := range l.row(k) {
			l.rowSums[k] += float64(v)
		}
	}
	return l.probabilityLoss.Forward(bottom, top)
}

// row returns the label's row of H.
func (l *infogainLoss) row(label int) []float32 { return l.h[label*l.dims[1]:][:l.dims[1]] }

func (l *infogainLoss) weighted(p []float32, stride, label int) float64 {
	var sum float64
	for c, h := range l.row(label) {
		sum -= float64(h) * math.Log(max(float64(p[c*stride]), leastProbability))
	}
	return sum
}

// weightedRun is weighted with vector instructions.
func (l *infogainLoss) weightedRun(p []float32, stride, label int) float64 {
	var (
		buffer [512]float32
		sum    float64
	)
	for row := l.row(label); len(row) > 0; {
		logs := buffer[:min(len(buffer), len(row))]
		for c := range logs {
			logs[c] = max(p[c*stride], leastProbability)
		}
		vec.Log(logs, logs)
		sum -= vec.Dot(row[:len(logs)], logs)
		if row = row[len(logs):]; len(row) > 0 {
			p = p[len(logs)*stride:]
		}
	}
	return sum
}

func (l *infogainLoss) gradient(p float32, class, label int) float64 {
	return float64(p)*l.rowSums[label] - float64(l.row(label)[class])
}

func (l *infogainLoss) gradients(t *stream.Tile) {
	p, dx := t.In[0], t.Out[0]
	l.eachInTile(t, func(at, label int, ok bool) {
		for m := range t.M {
			k := at + m*t.MStride
			if dx[k] = 0; ok {
				dx[k] = l.scale * float32(l.gradient(p[k], m, label))
			}
		}
	})
}

func (l *infogainLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if len(bottom) > 2 && propagateDown[2] {
		return errors.New("the layer cannot backpropagate to infogain inputs (bottom 2)")
	}
	return l.probabilityLoss.Backward(top, propagateDown, bottom)
}

// infogainCoupling is the rule of InfogainLoss: a matrix that comes with the items would be divided with them.
func infogainCoupling(p *caffepb.LayerParameter, bottoms [][]int) layers.Coupling {
	if len(bottoms) > 2 && bottoms[2] != nil {
		return layers.Coupling{Kind: layers.Moves, Why: "takes its third bottom for a matrix, of which each worker would get some rows"}
	}
	return normalizedByCount(p, bottoms)
}
