package vpixel

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// plain runs f at the level of plain Go.
func plain(f func()) {
	defer isa.Use("go")()
	f()
}

// coefficients are those of n blocks: of photographs, sparse, only in the first row, only the first one, or any, as in damaged files.
func coefficients(r *rand.Rand, n int) (values []int16, quant [64]uint16) {
	values = make([]int16, 64*n)
	largest := []int{1, 10, 255, 65535}[r.IntN(4)]
	for i := range quant {
		quant[i] = uint16(1 + r.IntN(largest))
	}
	for b := range n {
		v := values[64*b:][:64]
		scale := []int{3, 100, 2000, 65535}[r.IntN(4)]
		some := func() int16 { return int16(r.IntN(scale+1) - scale/2) }
		switch r.IntN(5) {
		case 0:
			v[0] = some()
		case 1:
			for i := range 8 {
				v[i] = some()
			}
		case 2:
			for range 5 {
				v[r.IntN(64)] = some()
			}
		case 3:
			for i := range v {
				v[i] = some()
			}
		}
	}
	return values, quant
}

// TestTransformLevels: every level gives the bits of plain Go, and writes nothing else.
func TestTransformLevels(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		r := simdtest.Seeded(1)
		for n := range 3000 {
			n %= 9
			values, quant := coefficients(r, n)
			stride := 8*n + r.IntN(20)
			want, got := bytes.Repeat([]byte{77}, 8*stride+8), bytes.Repeat([]byte{77}, 8*stride+8)
			plain(func() { Transform(want, stride, values, &quant, n) })
			Transform(got, stride, values, &quant, n)
			if !bytes.Equal(got, want) {
				t.Fatalf("%d blocks, stride %d: other samples", n, stride)
			}
		}
	})
}

// TestTransform holds the inverse cosine transform against its definition, T.81, A.3.3. Rounding leaves less than one level.
func TestTransform(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		r := simdtest.Seeded(2)
		var quant [64]uint16
		for i := range quant {
			quant[i] = 1
		}
		for range 200 {
			values := make([]int16, 128)
			for range 1 + r.IntN(64) {
				values[r.IntN(64)] = int16(r.IntN(200) - 100)
			}
			out := make([]byte, 128)
			Transform(out, 16, values, &quant, 2)
			for y := range 8 {
				for x := range 8 {
					sum := 128.0
					for v := range 8 {
						for u := range 8 {
							f := float64(values[8*v+u]) / 4
							if u == 0 {
								f /= math.Sqrt2
							}
							if v == 0 {
								f /= math.Sqrt2
							}
							sum += f * math.Cos(float64(2*x+1)*float64(u)*math.Pi/16) * math.Cos(float64(2*y+1)*float64(v)*math.Pi/16)
						}
					}
					if sum = max(0, min(sum, 255)); math.Abs(sum-float64(out[16*y+x])) > 0.75 {
						t.Fatalf("sample %d, %d is %d, exactly %.3f", x, y, out[16*y+x], sum)
					}
				}
			}
		}
	})
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32() | -(r.Uint32() & 1)) // often 255
	}
	return b
}

// TestWidenLevels: every level gives the bits of plain Go, at every width; values by hand are in package jpeg.
func TestWidenLevels(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		r := simdtest.Seeded(3)
		for n := 1; n < 100; n++ {
			near, far := randomBytes(r, n+Padding), randomBytes(r, n+Padding)
			for _, other := range [][]byte{near, far, nil} {
				var want []byte
				plain(func() { want = NewWidener(n).Widen(near, other) })
				if got := NewWidener(n).Widen(near, other); !bytes.Equal(got, want) {
					t.Fatalf("%d samples: %v, want %v", n, got, want)
				}
			}
		}
	})
}

// TestColours holds every pair of colour differences against JFIF's formulas, rounded: 16-bit constants are near enough that only what is within
// 0.002 of halfway between two levels may go either way.
func TestColours(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		var y, cb, cr, want [256]byte
		var got [3 * 256]byte
		for luma := range 256 {
			for red := range 256 {
				for i := range 256 {
					y[i], cb[i], cr[i] = byte(luma), byte(i), byte(red)
				}
				BGR(got[:], y[:], cb[:], cr[:])
				for i := range want {
					r, g, b := RGB(byte(luma), byte(i), byte(red))
					if p := got[3*i:]; p[0] != b || p[1] != g || p[2] != r {
						t.Fatalf("Y %d, Cb %d, Cr %d: %v, want %d %d %d", luma, i, red, p[:3], b, g, r)
					}
					if luma != 0 && luma != 128 && luma != 255 {
						continue
					}
					e, d := float64(red)-128, float64(i)-128
					for c, exact := range []float64{float64(luma) + 1.772*d, float64(luma) - 0.34414*d - 0.71414*e, float64(luma) + 1.402*e} {
						level := min(max(math.Floor(exact+0.5), 0), 255)
						if _, fraction := math.Modf(exact); float64(got[3*i+c]) != level && math.Abs(math.Abs(fraction)-0.5) > 0.002 {
							t.Fatalf("Y %d, Cb %d, Cr %d: channel %d is %d, exactly %.4f", luma, i, red, c, got[3*i+c], exact)
						}
					}
				}
			}
		}
	})
}

// TestBGRLevels: rows of every length have the pixels of plain Go, and nothing is written behind them.
func TestBGRLevels(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		r := simdtest.Seeded(4)
		for n := range 100 {
			y, cb, cr := randomBytes(r, n), randomBytes(r, n), randomBytes(r, n)
			want, got := bytes.Repeat([]byte{9}, 3*n+64), bytes.Repeat([]byte{9}, 3*n+64)
			plain(func() { BGR(want, y, cb, cr) })
			if BGR(got, y, cb, cr); !bytes.Equal(got, want) {
				t.Fatalf("%d pixels: other colours", n)
			}
		}
	})
}

// TestResizeLevels: rows of every length have the values of plain Go.
func TestResizeLevels(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		r := simdtest.Seeded(5)
		for n := range 300 {
			c := &Columns{1 + r.IntN(4), make([]int32, n), make([]uint32, n)}
			width := 1 + r.IntN(100)
			row := randomBytes(r, width*c.Channels+Padding)
			for i := range n {
				a := int32(r.IntN(2049))
				c.Set(i, r.IntN(width), a, 2048-a)
			}
			rows := [4][]int16{}
			for i := range rows {
				rows[i] = make([]int16, n*c.Channels+Padding)
			}
			plain(func() { c.Row(rows[0], row) })
			c.Row(rows[1], row)
			if !slices.Equal(rows[0][:n*c.Channels], rows[1][:n*c.Channels]) {
				t.Fatalf("%d pixels of %d channels: other values", n, c.Channels)
			}
			for i := range rows[2] {
				rows[2][i], rows[3][i] = int16(r.IntN(32641)), int16(r.IntN(32641))
			}
			b := int32(r.IntN(2049))
			want, got := bytes.Repeat([]byte{9}, n+64), bytes.Repeat([]byte{9}, n+64)
			plain(func() { Blend(want[:n], rows[2][:n], rows[3][:n], 2048-b, b) })
			if Blend(got[:n], rows[2][:n], rows[3][:n], 2048-b, b); !bytes.Equal(got, want) {
				t.Fatalf("%d values, weight %d: other samples", n, b)
			}
		}
	})
}

// TestPickLevels: every level gives the bits of plain Go, reads nothing behind the last byte and writes nothing behind the last value.
func TestPickLevels(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		r := simdtest.Seeded(6)
		for n := range 100 {
			for stride := 1; stride <= 4; stride++ {
				src := randomBytes(r, max(0, (n-1)*stride+1))
				mean, scale := float32(r.NormFloat64()*100), float32(r.NormFloat64())
				all, got := simdtest.Banded(n, 3)
				Pick(got, src, stride, mean, scale)
				for i, v := range got {
					if want := (float32(src[i*stride]) - mean) * scale; v != want {
						t.Fatalf("%d values %d apart: value %d is %g, want %g", n, stride, i, v, want)
					}
				}
				simdtest.CheckGuard(t, all, n, 3)
			}
		}
	})
}
