package jpeg

import (
	"errors"

	"github.com/swcaffe/swcaffe/internal/base/simd/vpixel"
)

// checkSampling refuses sampling factors that do not divide the largest ones.
func (d *Decoder) checkSampling() error {
	for i := range d.components {
		if c := &d.components[i]; d.maxH%c.h != 0 || d.maxV%c.v != 0 {
			return errors.New("a JPEG whose sampling factors do not divide the largest ones is not supported")
		}
	}
	return nil
}

// upsampler makes rows of a component at the image's resolution.
type upsampler struct {
	c     *component
	h, v  int // how many times as many samples the image has
	wider *vpixel.Widener
	out   []byte
}

func (d *Decoder) newUpsampler(i int) *upsampler {
	c := &d.components[i]
	u := &upsampler{c: c, h: d.maxH / c.h, v: d.maxV / c.v}
	switch {
	case u.h == 1 && u.v == 1:
	case u.h == 2 && u.v <= 2 && c.width > 2:
		u.wider = vpixel.NewWidener(c.width)
	default:
		u.out = make([]byte, c.width*u.h)
	}
	return u
}

// row returns row y of the image. Factors of 2 interpolate between the samples' centres, with weights of 3/4 and 1/4 in each direction. Other
// factors, and components of 1 or 2 columns, repeat samples.
func (u *upsampler) row(y int) []byte {
	near := u.c.row(u.near(y))
	switch {
	case u.h == 1 && u.v == 1:
		return near
	case u.wider != nil && u.v == 1:
		return u.wider.Widen(near, nil)
	case u.wider != nil:
		return u.wider.Widen(near, u.c.row(u.other(y)))
	case u.h == 1 && u.v == 2:
		far := u.c.row(u.other(y))
		bias := uint(1 + y&1)
		for x, s := range near[:len(u.out)] {
			u.out[x] = byte((3*uint(s) + uint(far[x]) + bias) >> 2)
		}
	default:
		for x := range u.out {
			u.out[x] = near[x/u.h]
		}
	}
	return u.out
}

// mixesRows reports whether rows are interpolated.
func (u *upsampler) mixesRows() bool { return u.v == 2 && (u.wider != nil || u.h == 1) }

// near is the row of samples that row y of the image lies in.
func (u *upsampler) near(y int) int { return y / u.v }

// other is the row next to it on the side of row y of the image, if the image has twice as many rows; else the same row.
func (u *upsampler) other(y int) int {
	switch {
	case u.v != 2:
		return u.near(y)
	case y&1 == 0:
		return max(y/2-1, 0)
	}
	return min(y/2+1, u.c.height-1)
}
