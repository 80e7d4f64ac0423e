package imageio

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/swcaffe/swcaffe/internal/pages"
)

// Resize scales to height x width as cv::resize does with INTER_LINEAR on 8-bit images. Output pixel x interpolates the two
// pixels around the source position (x+0.5)*from/to - 0.5, without smoothing when it shrinks. Weights have 11 bits. The
// horizontal pass is exact; its results lose 4 bits before the vertical pass. A size too large for memory is an error.
func (im *Image) Resize(height, width int) (*Image, error) {
	if height == im.Height && width == im.Width {
		return im, nil
	}
	if err := checkResized(height, width, im.Channels); err != nil {
		return nil, err
	}
	return im.rows().resize(height, width), nil
}

// ResizeBy scales height and width by a factor and rounds them, as cv::resize without a size does: positions follow the factor, not the
// rounded size.
func (im *Image) ResizeBy(factor float64) (*Image, error) {
	size := [2]float64{math.RoundToEven(float64(im.Height) * factor), math.RoundToEven(float64(im.Width) * factor)}
	if !(min(size[0], size[1]) >= 1 && max(size[0], size[1]) <= maxSide) {
		return nil, fmt.Errorf("an image of height %d and width %d cannot be scaled by %g", im.Height, im.Width, factor)
	}
	height, width := int(size[0]), int(size[1])
	if err := checkResized(height, width, im.Channels); err != nil {
		return nil, err
	}
	if factor == 0.5 {
		return im.halved(height, width), nil
	}
	return im.rows().interpolate(tapsBy(im.Height, height, factor), tapsBy(im.Width, width, factor)), nil
}

// checkResized checks that memory suffices for the result and for the resizer's buffers.
func checkResized(height, width, channels int) error {
	h, w, c := float64(height), float64(width), float64(channels)
	if err := pages.Room(h*w*c + 2*4*w*c + float64(unsafe.Sizeof(tap{}))*(h+w)); err != nil {
		return fmt.Errorf("an image of height %d and width %d: %w", height, width, err)
	}
	return nil
}

func (from rows) resize(height, width int) *Image {
	return from.interpolate(taps(from.height, height), taps(from.width, width))
}

// interpolate makes an image whose rows and columns are interpolated as lines and columns say.
func (from rows) interpolate(lines, columns []tap) *Image {
	dst := New(len(lines), len(columns), from.channels)
	dst.Repaired = from.repaired
	r := resizer{src: from, in: make([]byte, from.width*from.channels), columns: columns, width: len(columns) * from.channels}
	for i := range r.cache {
		r.cache[i] = cachedRow{-1, make([]int32, r.width)}
	}
	for y, t := range lines {
		out := dst.Pix[y*r.width:][:r.width]
		upper, lower := r.row(t.low)[:len(out)], r.row(t.high)[:len(out)]
		a, b := t.lowWeight, t.highWeight
		for x := range out {
			out[x] = byte((a*upper[x]>>16 + b*lower[x]>>16 + 2) >> 2)
		}
	}
	return dst
}

// tap is the pair of source positions and weights for one output position. The weights sum to 2048.
type tap struct {
	low, high             int
	lowWeight, highWeight int32
}

func taps(from, to int) []tap { return tapsBy(from, to, float64(to)/float64(from)) }

// tapsBy returns the taps of to output positions for an image that grows by a factor.
func tapsBy(from, to int, factor float64) []tap {
	ts := make([]tap, to)
	scale := 1 / factor
	for i := range ts {
		at := float32((float64(i)+0.5)*scale - 0.5)
		low := int(math.Floor(float64(at)))
		f := at - float32(low)
		ts[i] = tap{max(low, 0), max(min(low+1, from-1), 0), weight(1 - f), weight(f)}
	}
	return ts
}

func weight(f float32) int32 { return int32(math.RoundToEven(float64(f * 2048))) }

// resizer caches the last two source rows, scaled to the output's width.
type resizer struct {
	src     rows
	in      []byte // one row of src
	columns []tap
	width   int
	cache   [2]cachedRow
}

type cachedRow struct {
	y      int
	values []int32
}

// row returns source row y at the output's width, scaled by 2048/16. Neighbouring rows use different slots.
func (r *resizer) row(y int) []int32 {
	c := &r.cache[y%2]
	if c.y == y {
		return c.values
	}
	c.y = y
	n, in := r.src.channels, r.in
	r.src.write(y, in)
	if n == 3 {
		for x, t := range r.columns {
			low, high, to := in[3*t.low:][:3], in[3*t.high:][:3], c.values[3*x:][:3]
			a, b := t.lowWeight, t.highWeight
			to[0] = (int32(low[0])*a + int32(high[0])*b) >> 4
			to[1] = (int32(low[1])*a + int32(high[1])*b) >> 4
			to[2] = (int32(low[2])*a + int32(high[2])*b) >> 4
		}
		return c.values
	}
	for x, t := range r.columns {
		for k := range n {
			c.values[x*n+k] = (int32(in[t.low*n+k])*t.lowWeight + int32(in[t.high*n+k])*t.highWeight) >> 4
		}
	}
	return c.values
}
