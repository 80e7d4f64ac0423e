package im2col

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// image is a program that spreads an image and folds its columns on one core group.
type image struct {
	geo              *Geometry
	x, dx, from, col []float32
}

func (*image) Name() string { return "image" }

func (p *image) RunGroup(g *cpe.CoreGroup) error {
	if err := p.geo.Spread(g, p.col, &Band{Rows: p.geo.Rows, X: p.x}); err != nil {
		return err
	}
	return p.geo.Fold(g, p.from, &Band{Rows: p.geo.Rows, X: p.dx}, true)
}

// TestSegments: lines that do not fit LDM pass through it in segments and give the same bits, with strides, dilation and padding, and for
// kernels that are longer than LDM.
func TestSegments(t *testing.T) {
	for _, s := range []shape.Conv{
		{N: 1, C: 2, Out: 1, Group: 1, In: []int{1, 300}, Kernel: []int{1, 9}, Stride: []int{1, 1}, Pad: []int{0, 4}, Dilation: []int{1, 1}},
		{N: 1, C: 2, Out: 1, Group: 1, In: []int{5, 203}, Kernel: []int{3, 4}, Stride: []int{2, 3}, Pad: []int{1, 3}, Dilation: []int{1, 7}},
		{N: 1, C: 1, Out: 1, Group: 1, In: []int{2, 200}, Kernel: []int{2, 90}, Stride: []int{1, 5}, Pad: []int{1, 60}, Dilation: []int{1, 1}},
		{N: 1, C: 1, Out: 1, Group: 1, In: []int{3, 100}, Kernel: []int{1, 1}, Stride: []int{1, 90}, Pad: []int{0, 0}, Dilation: []int{1, 1}},
	} {
		var results [2][2][]float32
		for i, bytes := range []int{64 << 10, 128} {
			spec := kerneltest.Machine(t, "sw26010", false).Spec()
			spec.LDMBytes = bytes
			run := func(m *cpe.Machine) error {
				geo := NewGeometry(s)
				plane, columns := geo.Channels*geo.Plane, geo.Channels*geo.Space()*geo.Positions()
				p := &image{geo: geo, x: kerneltest.Array(m, plane), dx: kerneltest.Array(m, plane), from: kerneltest.Array(m, columns), col: kerneltest.Array(m, columns)}
				err := m.Run(p, 1)
				results[i] = [2][]float32{p.col, p.dx}
				return err
			}
			kerneltest.ChargesTheSameOn(t, spec, s.String(), run)
			m, err := cpe.New(spec, cpe.Functional)
			if err != nil {
				t.Fatal(err)
			}
			if err := run(m); err != nil {
				t.Fatal(err)
			}
		}
		for k, name := range []string{"columns", "sums"} {
			if !slices.Equal(results[0][k], results[1][k]) {
				t.Errorf("%v: %s differ in segments", s, name)
			}
		}
	}
}
