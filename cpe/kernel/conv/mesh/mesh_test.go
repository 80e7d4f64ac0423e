package mesh_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/mesh"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestTapColumns: the results that stay in LDM beside both operands, counted in double precision as the original does:
// (64*60*1024/8 - Ni*B - Ni*No) / (No*B) forward, and 55 in the place of 60 for the gradients.
func TestTapColumns(t *testing.T) {
	spec := kerneltest.Published(t, "swcaffe-2018")
	for _, c := range []struct{ m, n, k, forward, gradient int }{
		{256, 128, 256, 12, 10}, {128, 128, 128, 28, 25}, {64, 128, 64, 58, 53}, {512, 128, 256, 5, 4}, {512, 128, 512, 2, 1}, {1024, 128, 1024, 0, 0},
	} {
		for d, want := range map[shape.Direction]int{shape.Forward: c.forward, shape.InputGradient: c.gradient, shape.WeightGradient: c.gradient} {
			if got := mesh.Columns(&spec, d, c.m, c.n, c.k); got != want {
				t.Errorf("%d x %d x %d %v: %d columns, want %d", c.m, c.n, c.k, d, got, want)
			}
		}
	}
}

// TestSharedRows: the implicit convolution of 2019 has core groups share rows where the training program would not have taken it, and
// there is a row for each; of its own software the machine shares images.
func TestSharedRows(t *testing.T) {
	spec := kerneltest.Published(t, "swcaffe-2019")
	for _, c := range []struct {
		s    shape.Conv
		want [3]bool
	}{
		{convtest.Shape2D(128, 64, 64, 1, 14, 14, 3, 3, 1, 1, 1), [3]bool{true, true, true}},
		{convtest.Shape2D(256, 128, 64, 1, 14, 14, 3, 3, 1, 1, 1), [3]bool{shape.Forward: true}},
		{convtest.Shape2D(512, 128, 64, 1, 14, 14, 3, 3, 1, 1, 1), [3]bool{}},
		{convtest.Shape2D(8, 64, 64, 1, 4, 4, 3, 3, 1, 0, 1), [3]bool{shape.InputGradient: true}},
		{shape.Conv{N: 8, C: 64, Out: 64, Group: 1, In: []int{40}, Kernel: []int{3}, Stride: []int{1}, Pad: []int{1}, Dilation: []int{1}}, [3]bool{}},
	} {
		for d, want := range c.want {
			if got := mesh.Rowwise(c.s, &spec, shape.Direction(d)); got != want {
				t.Errorf("%v %v: %v, want %v", c.s, shape.Direction(d), got, want)
			}
			for _, other := range []cpe.Spec{kerneltest.Published(t, "swcaffe"), kerneltest.Published(t, "swcaffe-2018")} {
				if mesh.Rowwise(c.s, &other, shape.Direction(d)) {
					t.Errorf("%v %v: core groups share rows in %s", c.s, shape.Direction(d), other.Software.Name)
				}
			}
		}
	}
}

// TestRowsOrImages: on a machine with remote access to LDM sharing rows is a choice beside sharing images, and the better one for few images of a
// core group; on the SW26010 our own plans share images alone.
func TestRowsOrImages(t *testing.T) {
	s := convtest.Shape2D(32, 256, 256, 1, 14, 14, 3, 3, 1, 1, 1)
	for _, name := range []string{"sw39000", "sw26010"} {
		spec, err := cpe.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		var times []cpe.VTime
		for _, a := range []conv.Algorithm{mesh.Rows, mesh.Batch} {
			m, err := cpe.New(spec, cpe.CostOnly)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			p := conv.Problem{Shape: s, Direction: shape.Forward, Spec: &spec}
			if err := a.Supports(&p); err != nil {
				continue
			}
			k, err := a.Kernel(m, &p)
			if err != nil {
				t.Fatal(err)
			}
			if err := k.Run(conv.Arrays{}); err != nil {
				t.Fatal(err)
			}
			times = append(times, m.Ledger().Time)
		}
		if rows := name == "sw39000"; rows != (len(times) == 2) || rows && times[0] >= times[1] {
			t.Errorf("%s: times %v of rows and images", name, times)
		}
	}
}
