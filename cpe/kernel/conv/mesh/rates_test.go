package mesh

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/cpe/validation"
)

// square returns a convolution of 128 images without padding, so that every multiply-add counts.
func square(channels, outputs int, kernel int, results ...int) shape.Conv {
	s := shape.Conv{N: 128, C: channels, Out: outputs, Group: 1}
	for _, n := range results {
		s.In = append(s.In, n+kernel-1)
		s.Kernel, s.Stride, s.Pad, s.Dilation = append(s.Kernel, kernel), append(s.Stride, 1), append(s.Pad, 0), append(s.Dilation, 1)
	}
	return s
}

// peakShare is the share of a core group's peak, in percent, that a convolution reaches without its tensor transforms.
func peakShare(t *testing.T, spec cpe.Spec, s shape.Conv) float64 {
	t.Helper()
	spec.CoreGroups = 1
	_, ns := alone(t, spec, s)
	out := s.OutSize()
	return 100 * 2 * float64(s.N*s.Out*s.Depth()*tiling.Size(out)) / ns / spec.PeakGFlops()
}

// TestRates compares convolutions with published shares of the peak, which know no tensor transforms: the best of C3D's 3-D convolutions on a
// core group of sw39000, and VGG-16's on the SW26010, by their number, also beside swDNN's kernels. The best of many others there is no better than 78 %: DEVIATIONS.md.
func TestRates(t *testing.T) {
	load := func(name string) cpe.Spec {
		s, err := cpe.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	best := 0.0
	for _, s := range []shape.Conv{ // C3D's conv2a to conv5b, which read 16, 8, 4 and 2 frames
		square(64, 128, 3, 16, 56, 56), square(128, 256, 3, 8, 28, 28), square(256, 256, 3, 8, 28, 28),
		square(256, 512, 3, 4, 14, 14), square(512, 512, 3, 4, 14, 14), square(512, 512, 3, 2, 7, 7),
	} {
		share := peakShare(t, load("sw39000"), s)
		t.Logf("sw39000, %v: %.1f %%", s, share)
		best = max(best, share)
	}
	swdnn, err := load("sw26010").WithSoftware("swcaffe-2018")
	if err != nil {
		t.Fatal(err)
	}
	sum, times, layers := 0.0, 0.0, 0
	for _, l := range []struct{ channels, outputs, size, times int }{
		{64, 64, 224, 1}, {64, 128, 112, 1}, {128, 128, 112, 1}, {128, 256, 56, 1}, {256, 256, 56, 2}, {256, 512, 28, 1}, {512, 512, 28, 2}, {512, 512, 14, 3},
	} {
		share := peakShare(t, load("sw26010"), square(l.channels, l.outputs, 3, l.size, l.size))
		theirs := peakShare(t, swdnn, square(l.channels, l.outputs, 3, l.size, l.size))
		t.Logf("sw26010, %d to %d channels, %d x %d: %.1f %%, with swDNN's kernels %.1f", l.channels, l.outputs, l.size, l.size, share, theirs)
		sum, times, layers = sum+float64(l.times)*share, times+float64(l.times)*share/theirs, layers+l.times
	}
	most := 0.0
	for _, channels := range []int{64, 128, 256, 512, 768, 1024} {
		for _, kernel := range []int{1, 3, 5, 7} {
			for _, size := range []int{7, 14, 28, 56} {
				most = max(most, peakShare(t, load("sw26010"), square(channels, channels, kernel, size, size)))
			}
		}
	}
	for name, got := range map[string]float64{"conv3d": best, "mg3m_vgg": sum / float64(layers), "mg3m_most": most, "mg3m_swdnn": times / float64(layers)} {
		row, err := validation.Rate(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.2f, published %g", name, got, row.Published)
		if near := row.Holds(got); near == (name == "mg3m_most") {
			t.Errorf("%s: %.2f, published %g", name, got, row.Published)
		}
	}
}
