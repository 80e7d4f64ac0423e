package all_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// blockedPool is a pooling layer, perhaps with a ReLU layer before it, whose images may be in blocks.
type blockedPool struct {
	layers.Layer
	bottom, top []*blob.Blob
}

// newBlockedPool makes the layer and reshapes it for bottoms of the given shape.
func newBlockedPool(t *testing.T, d *layers.Device, param string, relu bool, shape ...int) *blockedPool {
	t.Helper()
	texts := []string{`type: "Pooling" pooling_param { ` + param + ` }`}
	if relu {
		texts = append([]string{`type: "ReLU"`}, texts...)
	}
	c := newChain(t, d, caffepb.Phase_TRAIN, texts, 1, shape...)
	p := &blockedPool{c.layers[0], c.bottoms, []*blob.Blob{{}}}
	if relu {
		p.Layer, _ = layers.Fuse(c.layers[0], c.layers[1], nil)
	}
	p.reshape(t)
	return p
}

func (p *blockedPool) reshape(t testing.TB) {
	t.Helper()
	if err := p.Reshape(p.bottom, p.top); err != nil {
		t.Fatal(err)
	}
}

func (p *blockedPool) setBlocked(t testing.TB, bottoms, tops bool) {
	t.Helper()
	if err := layertest.LayOut(p.Layer, bottoms, tops); err != nil {
		t.Fatal(err)
	}
}

// run runs the layer on x and dy in the given layouts and returns y and dx in planes. Outputs and the mask hold NaN before.
func (p *blockedPool) run(t testing.TB, bottoms, tops bool, x, dy []float32) (y, dx []float32) {
	t.Helper()
	p.setBlocked(t, bottoms, tops)
	p.reshape(t)
	in, out := p.bottom[0], p.top[0]
	nan := float32(math.NaN())
	fill := func(values []float32) {
		for i := range values {
			values[i] = nan
		}
	}
	for _, b := range layers.TraitsOf(p.Layer).Keeps {
		fill(b.Data())
	}
	fill(out.Data())
	fill(in.Diff())
	copy(in.Data(), laidOut(in, x, bottoms))
	if err := p.Forward(p.bottom, p.top); err != nil {
		t.Fatal(err)
	}
	y = laidPlain(out, out.Data(), tops)
	fill(in.Data())
	fill(out.Data())
	copy(out.Diff(), laidOut(out, dy, tops))
	if err := p.Backward(p.top, []bool{true}, p.bottom); err != nil {
		t.Fatal(err)
	}
	return y, laidPlain(in, in.Diff(), bottoms)
}

// blockPlace returns the index in blocks of 16 channels of the value with index i in planes.
func blockPlace(b *blob.Blob, i int) int {
	s := b.Shape()
	pixels := s[2] * s[3]
	c := i / pixels % s[1]
	return ((i/pixels/s[1]*(s[1]/16)+c/16)*pixels+i%pixels)*16 + c%16
}

// laidOut converts values from planes to blocks, laidPlain from blocks to planes.
func laidOut(b *blob.Blob, v []float32, blocked bool) []float32 {
	list := slices.Clone(v)
	for i := range list {
		if blocked {
			list[blockPlace(b, i)] = v[i]
		}
	}
	return list
}

func laidPlain(b *blob.Blob, v []float32, blocked bool) []float32 {
	list := slices.Clone(v)
	for i := range list {
		if blocked {
			list[i] = v[blockPlace(b, i)]
		}
	}
	return list
}

// steps returns values with many duplicates. If odd is set, some are NaN or infinite.
func steps(n int, odd bool) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32((i*i+i/7)%11) - 5.25
		switch i * i % 61 {
		case 4:
			v[i] = float32(math.Copysign(0, -1))
		case 9, 15:
			if odd {
				v[i] = float32(math.NaN())
			}
		case 16:
			if odd {
				v[i] = float32(math.Inf(-1))
			}
		}
	}
	return v
}

// blockWays lists the layouts of bottoms and tops.
var blockWays = [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}}

// TestPoolingInBlocks: in any layout maxima, their gradients and the gradients of means have the bits of planes. Means differ at most by
// the order of summation in a window.
func TestPoolingInBlocks(t *testing.T) {
	d := fuseDevice(t, "host")
	wide := [][]int{{2, 16, 7, 9}, {1, 48, 15, 14}}
	all := slices.Concat(wide, [][]int{{2, 32, 1, 1}})
	bands := slices.Concat(wide, [][]int{{1, 16, 105, 48}})
	for _, tt := range []struct {
		param  string
		shapes [][]int
	}{
		{"kernel_size: 2 stride: 2", bands},
		{"kernel_size: 3 stride: 2", bands},
		{"kernel_size: 3 stride: 2 pad: 1", all},
		{"kernel_size: 3 stride: 1 pad: 1", all},
		{"kernel_size: 3 stride: 2 round_mode: FLOOR", bands},
		{"kernel_size: 2 stride: 1 pad: 1", all},
		{"kernel_h: 3 kernel_w: 2 stride_h: 1 stride_w: 3 pad_h: 0 pad_w: 1", bands},
		{"kernel_size: 5 stride: 3 pad: 2", all},
		{"kernel_size: 1 stride: 2 round_mode: FLOOR", all},
		{"kernel_size: 7", bands},
		{"global_pooling: true", all},
	} {
		for _, method := range []string{"MAX", "MAX after ReLU", "AVE"} {
			for _, shape := range tt.shapes {
				t.Run(fmt.Sprint(tt.param, method, shape), func(t *testing.T) {
					p := newBlockedPool(t, d, fmt.Sprintf("pool: %.3s %s", method, tt.param), method == "MAX after ReLU", shape...)
					comparePools(t, p, method == "AVE")
				})
			}
		}
	}
}

// comparePools compares a layer with itself in planes.
func comparePools(t *testing.T, p *blockedPool, means bool) {
	const rounding = 1e-6 // of sums of up to 210 values up to 5.75
	if b := layers.TraitsOf(p.Layer).Layout; b != (layers.Blocking{Bottoms: true, Tops: true}) {
		t.Fatalf("the layer can %+v", b)
	}
	for _, odd := range []bool{false, true} {
		x, dy := steps(p.bottom[0].Count(), odd), steps(p.top[0].Count(), false)
		wantY, wantDX := p.run(t, false, false, x, dy)
		for _, way := range blockWays {
			y, dx := p.run(t, way[0], way[1], x, dy)
			tolerance := 0.0
			if means {
				tolerance = rounding
			}
			layertest.Equal(t, fmt.Sprint("y, blocks ", way), y, wantY, tolerance)
			layertest.Equal(t, fmt.Sprint("dx, blocks ", way), dx, wantDX, 0)
		}
	}
}

// TestBlockedMask: with bottoms or tops in blocks the mask has one byte per output. The mask survives until the layout or the shape
// changes. New extents keep the layout.
func TestBlockedMask(t *testing.T) {
	p := newBlockedPool(t, fuseDevice(t, "host"), "kernel_size: 3 stride: 2", false, 2, 16, 8, 8)
	words := func() int { return layers.TraitsOf(p.Layer).Keeps[0].Count() }
	n := p.top[0].Count()
	for _, way := range blockWays {
		p.setBlocked(t, way[0], way[1])
		want := n
		if way[0] || way[1] {
			want = n / 4
		}
		mask := layers.TraitsOf(p.Layer).Keeps[0]
		p.reshape(t)
		p.setBlocked(t, way[0], way[1])
		if got := words(); got != want || layers.TraitsOf(p.Layer).Keeps[0] != mask {
			t.Errorf("blocks %v: the mask has %d words, want the same %d as before", way, got, want)
		}
	}
	p.setBlocked(t, true, true)
	p.bottom[0].Reshape(2, 16, 6, 6)
	p.reshape(t)
	if got, want := words(), p.top[0].Count()/4; got != want {
		t.Errorf("other extents: the mask has %d words, want %d", got, want)
	}
	p.bottom[0].Reshape(2, 24, 6, 6)
	if err := p.Reshape(p.bottom, p.top); err == nil {
		t.Error("24 channels lie in blocks")
	}
}

// TestBlocksAreRefused: layers stay in planes if there are no kernels for blocks, or no gain.
func TestBlocksAreRefused(t *testing.T) {
	for _, tt := range []struct {
		why, param string
		engine     layers.Engine
		machine    string
		tops       int
		shape      []int
	}{
		{"channels", "kernel_size: 2", layers.CPE, "host", 1, []int{1, 24, 4, 4}},
		{"draws", "kernel_size: 2 pool: STOCHASTIC", layers.CPE, "host", 1, []int{1, 16, 4, 4}},
		{"places", "kernel_size: 2", layers.CPE, "host", 2, []int{1, 16, 4, 4}},
		{"places of a window", "kernel_size: 16", layers.CPE, "host", 1, []int{1, 16, 16, 16}},
		{"a window outside", "kernel_size: 1 stride: 3", layers.CPE, "host", 1, []int{1, 16, 2, 2}},
		{"the reference", "kernel_size: 2", layers.MPE, "host", 1, []int{1, 16, 4, 4}},
		{"the model", "kernel_size: 2", layers.CPE, "sw26010", 1, []int{1, 16, 4, 4}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d := fuseDevice(t, tt.machine)
			d.Engine = tt.engine
			f, err := layertest.New(d, &layertest.Case{Type: "Pooling", Param: "pooling_param { " + tt.param + " }", Tops: tt.tops,
				Bottoms: []layertest.Bottom{layertest.In(tt.shape...)}})
			if err != nil {
				t.Fatal(err)
			}
			if can := layers.TraitsOf(f.Layer).Layout; can != (layers.Blocking{}) {
				t.Errorf("the layer can %+v", can)
			}
			if err := layertest.LayOut(f.Layer, true, true); err == nil {
				t.Error("Arrange does not say that it cannot")
			}
			if err := layertest.LayOut(f.Layer, false, false); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBlockedPoolingAllocatesNothing: an iteration allocates nothing once shapes and layouts are known.
func TestBlockedPoolingAllocatesNothing(t *testing.T) {
	for _, method := range []string{"MAX", "AVE"} {
		for _, way := range blockWays {
			p := newBlockedPool(t, fuseDevice(t, "host"), "kernel_size: 3 stride: 2 pool: "+method, false, 2, 32, 16, 16)
			propagate := []bool{true}
			arranged := layers.Arranged{In: layers.Layout{Blocks: way[0]}, Out: layers.Layout{Blocks: way[1]}}
			got := alloctest.PerRun(5, func() {
				p.reshape(t)
				if err := p.Layer.(layers.Planned).Arrange(arranged); err != nil {
					t.Fatal(err)
				}
				if p.Forward(p.bottom, p.top) != nil || p.Backward(p.top, propagate, p.bottom) != nil {
					t.Fatal("an iteration fails")
				}
			})
			if got != 0 {
				t.Errorf("%s, blocks %v: %d allocations", method, way, got)
			}
		}
	}
}
