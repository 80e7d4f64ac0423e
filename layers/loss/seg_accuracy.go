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
		Name: "SegAccuracy", Doc: "of pixels' classes: the accuracy, the mean recall and the mean intersection over union",
		Couples: layers.Always(layers.Rows, ""), Effects: addsCounts,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &segAccuracy{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), NoGradient: true,
	})
}

// segAccuracy is DeepLab's SegAccuracy layer. An item, such as a pixel, is found in the class of its largest score, of equal scores the last.
// For each class the layer counts the items that have its label (L), that are found in it (F), and of which both are true (R). The top has three
// values:
//
//	accuracy                      sum of R / sum of L
//	mean recall                   mean of R / L over the classes with L > 0
//	mean intersection over union  mean of R / (L + F - R) over all classes; a class with L + F = 0 has 1
type segAccuracy struct {
	layers.Base
	labelled
	keeps  bool // counts of earlier Forwards
	stream *stream.Kernel
	ins    [2][]float32
	counts []float64 // right, labelled and found items by class
}

func (l *segAccuracy) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetSegAccuracyParam()
	l.keeps = !p.GetReset_()
	for _, label := range p.GetIgnoreLabel() {
		l.ignored = append(l.ignored, int(label))
	}
	return nil
}

func (l *segAccuracy) Reshape(bottom, top []*blob.Blob) error {
	dims, err := classes(bottom[0], bottom[1], 1)
	if err != nil {
		return err
	}
	top[0].Reshape(1, 1, 1, 3)
	if l.dims == dims {
		return nil
	}
	if l.counts != nil && l.keeps && l.dims[1] != dims[1] {
		return fmt.Errorf("reset: false keeps counts of %d classes, and the scores now have %d", l.dims[1], dims[1])
	}
	if len(l.counts) != 3*dims[1] {
		l.counts = pages.Make[float64](3 * dims[1])
	}
	l.dims = dims
	if l.MPE() {
		return nil
	}
	l.stream, err = stream.New(l.Device.Machine, stream.Pass{
		Name: "seg_accuracy", Dims: dims, WholeMid: true, Ins: part.Arrays(1, stream.Plane), Sums: 3,
		Cost: stream.Work{Flops: 1}, Op: l.tile,
	})
	return err
}

func (l *segAccuracy) tile(t *stream.Tile) {
	l.eachInTile(t, func(at, label int, ok bool) {
		if ok {
			l.count(t.In[0][at:], t.MStride, label, t.Sum)
		}
	})
}

// count adds an item to counts.
func (l *segAccuracy) count(scores []float32, stride, label int, counts []float64) {
	best := 0
	for c := 1; c < l.dims[1]; c++ {
		if scores[c*stride] >= scores[best*stride] {
			best = c
		}
	}
	if best == label {
		counts[label]++
	}
	counts[l.dims[1]+label]++
	counts[2*l.dims[1]+best]++
}

func (l *segAccuracy) Forward(bottom, top []*blob.Blob) error {
	scores, labels := bottom[0].Data(), bottom[1].Data()
	if !l.keeps {
		clear(l.counts)
	}
	if l.MPE() {
		err := l.each(labels, func(n, label int) { l.count(scores[l.at(n, 0):], l.dims[2], label, l.counts) })
		if err != nil {
			return err
		}
	} else {
		l.ins = [2][]float32{scores, labels}
		if err := l.stream.Run(l.ins[:], nil); err != nil {
			return err
		}
		for i, n := range l.stream.Sums() {
			l.counts[i] += n
		}
	}
	l.report(top[0].Data())
	return nil
}

// report writes the three values.
func (l *segAccuracy) report(values []float32) {
	var right, items, recall, present, overlap float64
	n := l.dims[1]
	for c := range n {
		both, labelled, found := l.counts[c], l.counts[n+c], l.counts[2*n+c]
		right += both
		items += labelled
		if labelled > 0 {
			recall += both / labelled
			present++
		}
		if union := labelled + found - both; union > 0 {
			overlap += both / union
		} else {
			overlap++
		}
	}
	values[0] = float32(right / max(1, items))
	values[1] = float32(recall / max(1, present))
	values[2] = float32(overlap / float64(max(1, n)))
}

func (l *segAccuracy) Backward([]*blob.Blob, []bool, []*blob.Blob) error { return l.NoGradient() }

// addsCounts is the effect of layers that count over all batches.
func addsCounts(p *caffepb.LayerParameter) string {
	if p.GetSegAccuracyParam().GetReset_() {
		return ""
	}
	return "adds to the counts of the last pass"
}
