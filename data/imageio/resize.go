package imageio

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpixel"
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
	return im.rows().resize(height, width).image()
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
	return im.rows().interpolate(tapsBy(im.Height, height, factor), tapsBy(im.Width, width, factor)).image()
}

// checkResized checks that memory suffices for the result and for the resizer's buffers.
func checkResized(height, width, channels int) error {
	h, w, c := float64(height), float64(width), float64(channels)
	if err := pages.Room(h*w*c + 2*4*w*c + float64(unsafe.Sizeof(tap{}))*(h+w)); err != nil {
		return fmt.Errorf("an image of height %d and width %d: %w", height, width, err)
	}
	return nil
}

func (from rows) resize(height, width int) rows {
	return from.interpolate(taps(from.height, height), taps(from.width, width))
}

// interpolate makes rows whose rows and columns are interpolated as lines and columns say.
func (from rows) interpolate(lines, columns []tap) rows {
	r := newResizer(from, columns)
	write := func(y int, out []byte) {
		t := lines[y]
		vpixel.Blend(out, r.row(t.low)[:len(out)], r.row(t.high)[:len(out)], t.lowWeight, t.highWeight)
	}
	return rows{height: len(lines), width: len(columns), channels: from.channels, write: write, repaired: from.repaired, end: from.end}
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
	columns vpixel.Columns
	cache   [2]cachedRow
}

type cachedRow struct {
	y      int
	values []int16
}

func newResizer(src rows, columns []tap) *resizer {
	n := len(columns)
	r := &resizer{src: src, in: make([]byte, src.width*src.channels+vpixel.Padding)}
	r.columns = vpixel.Columns{Channels: src.channels, At: make([]int32, n), Weights: make([]uint32, n)}
	for i, t := range columns {
		if t.low == t.high { // at the border there is no second pixel
			t.lowWeight, t.highWeight = t.lowWeight+t.highWeight, 0
		}
		r.columns.Set(i, t.low, t.lowWeight, t.highWeight)
	}
	for i := range r.cache {
		r.cache[i] = cachedRow{-1, make([]int16, n*src.channels+vpixel.Padding)}
	}
	return r
}

// row returns source row y at the output's width, scaled by 2048/16. Neighbouring rows use different slots.
func (r *resizer) row(y int) []int16 {
	c := &r.cache[y%2]
	if c.y != y {
		c.y = y
		r.src.write(y, r.in[:r.src.width*r.src.channels])
		r.columns.Row(c.values, r.in)
	}
	return c.values
}
