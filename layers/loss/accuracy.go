package loss

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Accuracy", Doc: "the share of items whose label is among the top_k scores; a second top has it by class",
		Couples: layers.Always(layers.Rows, ""),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &accuracy{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Between(1, 2), NoGradient: true,
	})
}

// accuracy is Caffe's Accuracy layer. Another class with the label's score counts as better, so that a tie counts as an error. Items of the label
// wrong_label, which is of no class, count as errors of the first top and are not part of the second.
type accuracy struct {
	layers.Base
	labelled
	topK   int
	stream *stream.Kernel
	ins    [2][]float32
	sums   []float64 // correct items by class, then items by class; with wrong_label also, in the next value, its items
}

func (l *accuracy) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetAccuracyParam()
	l.topK = int(p.GetTopK())
	if p != nil && p.IgnoreLabel != nil {
		l.ignored = []int{int(p.GetIgnoreLabel())}
	}
	if p != nil && p.WrongLabel != nil {
		l.wrong = []int{int(p.GetWrongLabel())}
	}
	return nil
}

func (l *accuracy) Reshape(bottom, top []*blob.Blob) error {
	dims, err := classes(bottom[0], bottom[1], int(l.Param.GetAccuracyParam().GetAxis()))
	if err != nil {
		return err
	}
	if l.topK > dims[1] {
		return fmt.Errorf("top_k %d must be less than or equal to the number of classes %d", l.topK, dims[1])
	}
	top[0].Reshape()
	if len(top) > 1 {
		top[1].Reshape(dims[1])
	}
	if c := l.wrong; len(c) > 0 && c[0] >= 0 && c[0] < dims[1] {
		return fmt.Errorf("wrong_label %d must not be one of the %d classes", c[0], dims[1])
	}
	if l.dims == dims {
		return nil
	}
	counts := 2 + len(l.wrong)
	l.dims, l.sums = dims, pages.Make[float64](counts*dims[1])
	if l.MPE() {
		return nil
	}
	l.stream, err = stream.New(l.Device.Machine, stream.Pass{
		Name: "accuracy", Dims: dims, WholeMid: true, Sweeps: 2, Ins: part.Arrays(1, stream.Plane), Sums: counts,
		Cost: stream.Work{Flops: 1}, Op: l.tile,
	})
	return err
}

func (l *accuracy) tile(t *stream.Tile) {
	l.eachInTile(t, func(at, label int, ok bool) {
		if ok {
			l.judge(t.In[0], at, t.MStride, label, t.Sum)
		}
	})
}

// judge adds the item whose scores begin at at to sums.
func (l *accuracy) judge(scores []float32, at, stride, label int, sums []float64) {
	if label < 0 {
		sums[2*l.dims[1]]++
		return
	}
	scores = scores[at:]
	own, better := scores[label*stride], -1
	for c := 0; c < l.dims[1] && better < l.topK; c++ {
		if scores[c*stride] >= own {
			better++
		}
	}
	sums[l.dims[1]+label]++
	if better < l.topK {
		sums[label]++
	}
}

func (l *accuracy) Forward(bottom, top []*blob.Blob) error {
	scores, labels, sums := bottom[0].Data(), bottom[1].Data(), l.sums
	if l.MPE() {
		clear(sums)
		err := l.each(labels, func(n, label int) { l.judge(scores, l.at(n, 0), l.dims[2], label, sums) })
		if err != nil {
			return err
		}
	} else {
		l.ins = [2][]float32{scores, labels}
		if err := l.stream.Run(l.ins[:], nil); err != nil {
			return err
		}
		sums = l.stream.Sums()
	}
	l.report(top, sums)
	return nil
}

// report writes the accuracies. A class without items has 0.
func (l *accuracy) report(top []*blob.Blob, sums []float64) {
	var correct, items float64
	for c := range l.dims[1] {
		correct += sums[c]
		items += sums[l.dims[1]+c]
		if len(top) > 1 {
			top[1].Data()[c] = float32(sums[c] / max(1, sums[l.dims[1]+c]))
		}
	}
	if len(l.wrong) > 0 {
		items += sums[2*l.dims[1]]
	}
	top[0].Data()[0] = float32(correct / max(1, items))
}

func (l *accuracy) Backward([]*blob.Blob, []bool, []*blob.Blob) error { return l.NoGradient() }
