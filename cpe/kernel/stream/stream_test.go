package stream

import (
	"errors"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

var streamDims = [][3]int{{1, 1, 0}, {1, 1, 1}, {1, 1, 100003}, {3, 5, 7}, {2, 300, 70}, {40, 3, 1000}, {7, 1000, 1}, {1, 2, 60000}, {3, 20000, 1}, {2, 9000, 70}}

// TestStream runs y = x*scale[mid] + plane[outer, inner], with x's sum and the number of elements by mid, and the result once more
// in place through scratch.
func TestStream(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, d := range racing.Few(streamDims) {
			n := d[0] * d[1] * d[2]
			k, err := New(m, Pass{
				Name: "test", Dims: d, Ins: []Array{Full, Row, Plane}, Outs: []Array{Full, Plane}, Scratch: 1, Sums: 2, Op: testOp,
			})
			if err != nil {
				t.Fatal(err)
			}
			x, scale, plane := kerneltest.Values(n, 1), kerneltest.Values(d[1], 2), kerneltest.Values(d[0]*d[2], 3)
			y, last := make([]float32, n), make([]float32, d[0]*d[2])
			for range 2 {
				if err := k.Run([][]float32{x, scale, plane}, [][]float32{y, last}); err != nil {
					t.Fatal(err)
				}
			}
			want, sums := make([]float64, n), make([]float64, 2*d[1])
			for i := range want {
				o, mid, in := i/(d[1]*d[2]), i/d[2]%d[1], i%d[2]
				want[i] = float64(x[i])*float64(scale[mid]) + float64(plane[o*d[2]+in])
				sums[mid] += float64(x[i])
				sums[d[1]+mid]++
			}
			kerneltest.Near(t, k.Plan().String(), y, want, 2)
			if peak := m.Ledger().LDMPeak; m.HasDMA() && peak > m.Spec().LDMBytes {
				t.Errorf("%v: %d bytes of LDM", d, peak)
			}
			for i, s := range k.Sums() {
				if diff := s - sums[i]; diff > 1e-9 || diff < -1e-9 {
					t.Errorf("%v: sum %d is %g, want %g", d, i, s, sums[i])
				}
			}
			for i, v := range last {
				if v != 2*plane[i] {
					t.Fatalf("%v: plane result %d is %g, want %g", d, i, v, 2*plane[i])
				}
			}
		}
	})
}

func testOp(t *Tile) {
	for o := range t.O {
		for m := range t.M {
			for i := range t.I {
				at := o*t.OStride + m*t.MStride + i
				x := t.In[0][at]
				s := (o*t.M+m)*t.I + i
				t.Scratch[0][s] = float32(x * t.In[1][m])
				t.Out[0][at] = t.Scratch[0][s] + t.In[2][o*t.PStride+i]
				t.Sum[m] += float64(x)
				t.Sum[t.M+m]++
				t.Out[1][o*t.PStride+i] = 2 * t.In[2][o*t.PStride+i]
			}
		}
	}
}

// TestStreamPlacesTiles: the tile's place must name the elements that it holds, and every element be in one tile.
func TestStreamPlacesTiles(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, near := range []int{-1, 0, 3} {
			whole := near >= 0
			for _, d := range [][3]int{{3, 50, 700}, {2, 3000, 5}, {500, 7, 31}, {2, 4, 9001}} {
				x := make([]float32, d[0]*d[1]*d[2])
				for i := range x {
					x[i] = float32(i % 65521)
				}
				k, err := New(m, Pass{Name: "place", Dims: d, WholeMid: whole, Near: max(0, near), Ins: []Array{Full}, Outs: []Array{Full}, Scratch: 1, Op: func(t *Tile) {
					if scratch := t.Scratch[0]; len(scratch) < min(t.M, max(1, near))*t.I {
						t.Err = errors.New("the scratch array has less than the mids that are looked at")
					}
					if whole && t.M != d[1] {
						t.Err = errors.New("mid was cut")
					}
					for o := range t.O {
						for m := range t.M {
							for i := range t.I {
								at := ((t.O0+o)*d[1]+t.M0+m)*d[2] + t.I0 + i
								if t.In[0][o*t.OStride+m*t.MStride+i] != float32(at%65521) {
									t.Err = errors.New("an element is not where its place says")
								}
								t.Out[0][o*t.OStride+m*t.MStride+i] = float32(at%65521) + 1
							}
						}
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				y := append([]float32(nil), x...)
				if err := k.Run([][]float32{y}, [][]float32{y}); err != nil {
					t.Fatal(err)
				}
				for i := range y {
					if y[i] != x[i]+1 {
						t.Fatalf("%v: element %d is %g, want %g", d, i, y[i], x[i]+1)
					}
				}
			}
		}
	})
}

// TestStreamReturnsTheFirstError: of several bad tiles the first, whatever the number of core groups.
func TestStreamReturnsTheFirstError(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		n := 1 << 20
		x := make([]float32, n)
		k, err := New(m, Pass{Name: "labels", Dims: [3]int{1, 1, n}, Ins: []Array{Full}, Op: func(t *Tile) {
			for i, v := range t.In[0][:t.I] {
				if v != 0 && t.Err == nil {
					t.Err = labelError(t.I0 + i)
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		x[n/3], x[n-1] = 1, 1
		if err := k.Run([][]float32{x}, nil); err != labelError(n/3) {
			t.Errorf("error %v, want that of element %d", err, n/3)
		}
		clear(x)
		if err := k.Run([][]float32{x}, nil); err != nil {
			t.Errorf("the error stayed: %v", err)
		}
	})
}

type labelError int

func (labelError) Error() string { return "bad label" }

// TestStreamTilesEnd: the slices of a tile end with its last element, so that an operation over a whole slice stays off
// the next tile, which another core group may have. Every element must be counted up once.
func TestStreamTilesEnd(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		const n = 300_007
		k, err := New(m, Pass{Name: "count up", Dims: [3]int{1, 1, n}, Ins: []Array{Full}, Outs: []Array{Full}, InPlace: 1, Op: func(t *Tile) {
			for i := range t.Out[0] {
				t.Out[0][i]++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float32, n)
		if err := k.Run([][]float32{x}, [][]float32{x}); err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			if v != 1 {
				t.Fatalf("element %d was counted %g times", i, v)
			}
		}
	})
}

// TestStreamByMid: an Op that passes twice over the values of a mid finds all of them in its tile. Here it takes their sum from
// each.
func TestStreamByMid(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, d := range [][3]int{{8, 64, 49}, {3, 5, 7}, {2, 4, 20000}, {5, 2000, 2}, {1, 7, 3}} {
			if !StaysByMid(m, d, 1) {
				if !m.HasDMA() {
					t.Errorf("%v fits no cache", d)
				}
				continue
			}
			k, err := New(m, Pass{Name: "by mid", Dims: d, Ins: []Array{Full}, Outs: []Array{Full}, Sums: 1, ByMid: true, Op: lessSum})
			if err != nil {
				t.Fatal(err)
			}
			x, want := make([]float32, d[0]*d[1]*d[2]), make([]float32, d[1])
			for i := range x {
				x[i] = float32(i%7 - 3)
				want[i/d[2]%d[1]] += x[i]
			}
			y := make([]float32, len(x))
			if err := k.Run([][]float32{x}, [][]float32{y}); err != nil {
				t.Fatal(err)
			}
			for i, v := range y {
				if sum := want[i/d[2]%d[1]]; v != x[i]-sum {
					t.Fatalf("%v, %v: element %d is %g, want %g", d, k.Plan(), i, v, x[i]-sum)
				}
			}
		}
	})
}

// TestStreamLanes: where the arrays lie in blocks of channels, rows and sums have a value for every lane of a mid: y = x * scale, and
// x's sums. Tiles may be run from the last to the first.
func TestStreamLanes(t *testing.T) {
	const lanes = 2
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, d := range [][3]int{{3, 5, 8}, {1, 1, 2}, {40, 3, 1000}, {2, 3000, 4}, {2, 4, 60000}} {
			k, err := New(m, Pass{
				Name: "lanes", Dims: d, Ins: []Array{Full, Row}, Outs: []Array{Full}, Sums: 2, Lanes: lanes, Back: d[0] > 2, Op: lanesOp,
			})
			if err != nil {
				t.Fatal(err)
			}
			n, channels := d[0]*d[1]*d[2], d[1]*lanes
			x, scale, y := kerneltest.Values(n, 1), kerneltest.Values(channels, 2), make([]float32, n)
			if err := k.Run([][]float32{x, scale}, [][]float32{y}); err != nil {
				t.Fatal(err)
			}
			sums := make([]float64, 2*channels)
			for i, v := range x {
				c := i/d[2]%d[1]*lanes + i%lanes
				if want := v * scale[c]; y[i] != want {
					t.Fatalf("%v: value %d is %g, want %g", k.Plan(), i, y[i], want)
				}
				sums[c] += float64(v)
				sums[channels+c]++
			}
			for i, s := range k.Sums() {
				if diff := s - sums[i]; diff > 1e-9 || diff < -1e-9 {
					t.Errorf("%v: sum %d is %g, want %g", k.Plan(), i, s, sums[i])
				}
			}
		}
	})
}

func lanesOp(t *Tile) {
	lanes := len(t.Sum) / (2 * t.M)
	for o := range t.O {
		for m := range t.M {
			for i := range t.I {
				at, c := o*t.OStride+m*t.MStride+i, m*lanes+(t.I0+i)%lanes
				t.Out[0][at] = t.In[0][at] * t.In[1][c]
				t.Sum[c] += float64(t.In[0][at])
				t.Sum[t.M*lanes+c]++
			}
		}
	}
}

func lessSum(t *Tile) {
	for m := range t.M {
		for o := range t.O {
			for i := range t.I {
				t.Sum[m] += float64(t.In[0][o*t.OStride+m*t.MStride+i])
			}
		}
		for o := range t.O {
			for i := range t.I {
				at := o*t.OStride + m*t.MStride + i
				t.Out[0][at] = t.In[0][at] - float32(t.Sum[m])
			}
		}
	}
}
