package all_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// BenchmarkNormBlocks reports the best times of fused BatchNorm, Scale and ReLU in planes and in blocks, measured in turn. The extents are
// those of ResNet-50 at batch 8.
func BenchmarkNormBlocks(b *testing.B) {
	for _, shape := range [][]int{{8, 64, 112, 112}, {8, 64, 56, 56}, {8, 256, 56, 56}, {8, 512, 28, 28}, {8, 1024, 14, 14}, {8, 2048, 7, 7}} {
		b.Run(fmt.Sprintf("%dx%dx%dx%d", shape[0], shape[1], shape[2], shape[3]), func(b *testing.B) {
			layouts := []*normLayout{newNormLayout(b, "plain", false, shape), newNormLayout(b, "blocks", true, shape)}
			for b.Loop() {
				for _, l := range layouts {
					l.pass(b)
				}
			}
			for _, l := range layouts {
				b.ReportMetric(float64(l.forward.Microseconds())/1000, l.name+"-forward-ms")
				b.ReportMetric(float64(l.backward.Microseconds())/1000, l.name+"-backward-ms")
			}
		})
	}
}

// normLayout is the layers in one layout, with the best times of a pass.
type normLayout struct {
	name              string
	layer             layers.Layer
	bottom, top       []*blob.Blob
	forward, backward time.Duration
}

func newNormLayout(b *testing.B, name string, blocked bool, shape []int) *normLayout {
	c := newChain(b, layertest.NewBench(b).Device(layers.CPE), caffepb.Phase_TRAIN,
		[]string{`type: "BatchNorm"`, `type: "Scale" scale_param { bias_term: true }`, `type: "ReLU"`}, 1, shape...)
	l := &normLayout{name: name, layer: c.fuse(b), bottom: c.bottoms, top: []*blob.Blob{{}}, forward: time.Hour, backward: time.Hour}
	if err := l.layer.Reshape(l.bottom, l.top); err != nil {
		b.Fatal(err)
	}
	if err := layertest.LayOut(l.layer, blocked, blocked); err != nil {
		b.Fatal(err)
	}
	return l
}

func (l *normLayout) pass(b *testing.B) {
	start := time.Now()
	if err := l.layer.Forward(l.bottom, l.top); err != nil {
		b.Fatal(err)
	}
	between := time.Now()
	if err := l.layer.Backward(l.top, []bool{true}, l.bottom); err != nil {
		b.Fatal(err)
	}
	l.forward, l.backward = min(l.forward, between.Sub(start)), min(l.backward, time.Since(between))
}
