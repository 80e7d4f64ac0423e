package modeltime

import (
	"path/filepath"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	swnet "github.com/swcaffe/swcaffe/net"
)

// TestTraffic: in no net of the zoo and with nobody's kernels does a pass move less than its compulsory bytes, each value that it needs read once
// and each result written once, or run above the machine's roofline. On the management cores bytes count too.
func TestTraffic(t *testing.T) {
	racing.SkipSequential(t)
	files, err := filepath.Glob("../models/*/train_val.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	passes, onMPE := 0, 0
	for _, path := range files {
		name := filepath.Base(filepath.Dir(path))
		if !imagesKnown(t, path) {
			continue
		}
		for _, software := range cpe.Softwares() {
			m := eightImages(t, name, software, true)
			for i := range m.report.Layers {
				l := &m.report.Layers[i]
				for d, p := range []*Direction{l.Forward, l.WeightGradient, l.InputGradient} {
					if p == nil {
						continue
					}
					passes++
					if p.MPEBytes > 0 {
						onMPE++
					}
					what := func() string {
						return name + ", " + l.Name + " (" + l.Type + "), " + shape.Direction(d).String() + ", " + software
					}
					if p.MemoryBytes != p.DMABytes+p.MPEBytes {
						t.Errorf("%s: %d bytes are not %d and %d", what(), p.MemoryBytes, p.DMABytes, p.MPEBytes)
					}
					if need := m.least[l.Name][d]; float64(p.MemoryBytes) < need {
						t.Errorf("%s moves %d bytes, %.3f of the %.0f that it must", what(), p.MemoryBytes, float64(p.MemoryBytes)/need, need)
					}
					holdRoof(t, what, &m.spec, p)
				}
			}
		}
	}
	t.Logf("%d passes, %d of them on management cores", passes, onMPE)
	if passes < 1000 || onMPE < 100 {
		t.Errorf("%d passes, %d of them on management cores", passes, onMPE)
	}
}

// holdRoof fails on a pass above the roofline. The machine's file has puts up to 0.8 % faster than the gets by whose bandwidth roofs are drawn.
func holdRoof(t *testing.T, what func() string, spec *cpe.Spec, p *Direction) {
	t.Helper()
	const faster = 1.008
	if p.PeakShare > 1 {
		t.Errorf("%s runs at %.3f of the peak", what(), p.PeakShare)
	}
	if rate := float64(p.MemoryBytes) / p.ModelledMs / 1e6; rate > faster*spec.BandwidthGBps() {
		t.Errorf("%s moves %.2f GB/s, the memory %.2f", what(), rate, spec.BandwidthGBps())
	}
}

// compulsory returns the bytes that each direction of layer i must move; 0 for layers that may share their arrays, or leave values out.
func compulsory(n *swnet.Net, i int) (bytes [3]float64) {
	if len(n.Bottoms(i)) == 0 || len(n.Tops(i)) == 0 {
		return bytes
	}
	in, out := n.Bottoms(i)[0], n.Tops(i)[0]
	bottom, top, weights := 4*float64(in.Count()), 4*float64(out.Count()), 0.0
	p := n.LayerParam(i)
	switch p.GetType() {
	case "Convolution":
		c := p.ConvolutionParam
		bottom *= needed(in.Shape(), out.Shape(), first(c.KernelSize, c.GetKernelH()), first(c.Stride, c.GetStrideH()), first(c.Pad, c.GetPadH()))
		weights = 4 * float64(n.Layer(i).Params()[0].Count()) // a bias is free: entry 11 of cpe/DEVIATIONS.md
	case "Pooling":
		if c := p.PoolingParam; !c.GetGlobalPooling() {
			bottom *= needed(in.Shape(), out.Shape(), int(c.GetKernelSize()), int(c.GetStride()), int(c.GetPad()))
		}
	case "InnerProduct":
		weights = 4 * float64(n.Layer(i).Params()[0].Count())
	case "ReLU", "BatchNorm", "Scale", "Dropout", "LRN":
	default:
		return bytes
	}
	return [3]float64{bottom + weights + top, bottom + weights + top, top + weights + bottom}
}

// first is the first of a list of extents, or the extent that stands alone, and at least 1 for kernels and strides.
func first(list []uint32, alone uint32) int {
	if len(list) > 0 {
		return int(list[0])
	}
	return int(alone)
}

// needed is the part of an image that the windows touch.
func needed(in, out []int, kernel, stride, pad int) float64 {
	part := 1.0
	stride = max(1, stride)
	for axis := 2; axis < len(in); axis++ {
		touched := 0
		for at := range in[axis] {
			for o := range out[axis] {
				if lo := o*stride - pad; lo <= at && at < lo+kernel {
					touched++
					break
				}
			}
		}
		part *= float64(touched) / float64(in[axis])
	}
	return part
}
