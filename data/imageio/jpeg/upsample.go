package jpeg

import "errors"

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
	c    *component
	h, v int // how many times as many samples the image has
	sums []int32
	out  []byte
}

func (d *Decoder) newUpsampler(i int) *upsampler {
	c := &d.components[i]
	u := &upsampler{c: c, h: d.maxH / c.h, v: d.maxV / c.v}
	if u.h > 1 || u.v > 1 {
		u.sums, u.out = make([]int32, c.width), make([]byte, c.width*u.h)
	}
	return u
}

// row returns row y of the image. Factors of 2 interpolate between the samples' centres, with weights of 3/4 and 1/4 in each direction. Other
// factors, and components of 1 or 2 columns, repeat samples.
func (u *upsampler) row(y int) []byte {
	near := u.samples(y / u.v)
	switch {
	case u.h == 1 && u.v == 1:
		return near
	case u.h == 1 && u.v == 2:
		far := u.samples(u.other(y))
		bias := uint(1 + y&1)
		for x, s := range near {
			u.out[x] = byte((3*uint(s) + uint(far[x]) + bias) >> 2)
		}
	case u.h == 2 && u.v == 1 && u.c.width > 2:
		for x, s := range near {
			u.sums[x] = int32(s)
		}
		u.widen(1, 2, 2)
	case u.h == 2 && u.v == 2 && u.c.width > 2:
		far := u.samples(u.other(y))
		for x, s := range near {
			u.sums[x] = 3*int32(s) + int32(far[x])
		}
		u.widen(8, 7, 4)
	default:
		for x := range u.out {
			u.out[x] = near[x/u.h]
		}
	}
	return u.out
}

func (u *upsampler) samples(y int) []byte { return u.c.samples[y*8*u.c.stride:][:u.c.width] }

// other is the row next to the nearest one, on the side of image row y.
func (u *upsampler) other(y int) int {
	if y&1 == 0 {
		return max(y/2-1, 0)
	}
	return min(y/2+1, u.c.height-1)
}

// widen doubles the width of sums: each gives a left and a right sample, 3/4 of it and 1/4 of the neighbour on that side.
func (u *upsampler) widen(left, right int32, shift uint) {
	in, out := u.sums, u.out[:2*len(u.sums)]
	last := len(in) - 1
	before := in[0]
	for i, v := range in[:last] {
		after := in[i+1]
		out[2*i] = byte((3*v + before + left) >> shift)
		out[2*i+1] = byte((3*v + after + right) >> shift)
		before = v
	}
	v := in[last]
	out[2*last] = byte((3*v + before + left) >> shift)
	out[2*last+1] = byte((4*v + right) >> shift)
}
