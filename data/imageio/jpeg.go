package imageio

import (
	"fmt"
	"image"
)

// fromJPEG converts a decoded JPEG. Grey is the luma channel, if the file has one.
func fromJPEG(src image.Image, mode Mode) (rows, error) {
	switch s := src.(type) {
	case *image.Gray:
		grey := luminance(s)
		if mode == Color {
			return grey.replicate(), nil
		}
		return grey, nil
	case *image.YCbCr:
		if mode == Gray {
			return luma(s), nil
		}
		return fromYCbCr(s), nil
	case *image.RGBA: // the file stores R, G, B
		if mode == Gray {
			return colours(s).gray(jpegWeights), nil
		}
		return colours(s), nil
	case *image.CMYK:
		if mode == Gray {
			return fromCMYK(s).gray(readerWeights), nil
		}
		return fromCMYK(s), nil
	}
	return rows{}, fmt.Errorf("JPEG of an unknown kind (%T)", src)
}

func luma(s *image.YCbCr) rows {
	return rows{s.Rect.Dy(), s.Rect.Dx(), 1, func(y int, out []byte) { copy(out, s.Y[y*s.YStride:]) }, s.Y}
}

// fromCMYK undoes the inversion by Go's decoder and scales by black as OpenCV does.
func fromCMYK(s *image.CMYK) rows {
	return rows{s.Rect.Dy(), s.Rect.Dx(), 3, func(y int, out []byte) {
		in := s.Pix[y*s.Stride:]
		for x := range len(out) / 3 {
			k := 255 - int(in[4*x+3])
			for c := range 3 {
				out[3*x+2-c] = byte(k - int(in[4*x+c])*k>>8)
			}
		}
	}, nil}
}

// fromYCbCr interpolates the chroma planes to full size and converts to B, G, R with libjpeg's 16-bit constants:
//
//	R = Y + 1.40200 Cr, G = Y - 0.34414 Cb - 0.71414 Cr, B = Y + 1.77200 Cb
func fromYCbCr(s *image.YCbCr) rows {
	up := newUpsampler(s)
	width := s.Rect.Dx()
	return rows{s.Rect.Dy(), width, 3, func(y int, pixels []byte) {
		luma := s.Y[y*s.YStride:][:width]
		cb, cr := up.row(s.Cb, y, up.cb)[:len(luma)], up.row(s.Cr, y, up.cr)[:len(luma)]
		for x, v := range luma {
			b, r, l := int32(cb[x])-128, int32(cr[x])-128, int32(v)
			out := pixels[3*x:][:3]
			out[0] = clamp(l + (116130*b+1<<15)>>16)
			out[1] = clamp(l + (-22554*b-46802*r+1<<15)>>16)
			out[2] = clamp(l + (91881*r+1<<15)>>16)
		}
	}, nil}
}

func clamp(v int32) byte { return byte(min(max(v, 0), 255)) }

// upsampler interpolates rows of the chroma planes to the resolution of the image.
type upsampler struct {
	h, v          int // subsampling factors
	width, height int // size of the chroma planes
	stride        int
	sums          []int32 // a row of vertically weighted sums
	cb, cr        []byte  // one row each, at full width
}

func newUpsampler(s *image.YCbCr) *upsampler {
	u := &upsampler{h: 1, v: 1, stride: s.CStride}
	switch s.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		u.h = 2
	case image.YCbCrSubsampleRatio420:
		u.h, u.v = 2, 2
	case image.YCbCrSubsampleRatio440:
		u.v = 2
	case image.YCbCrSubsampleRatio411:
		u.h = 4
	case image.YCbCrSubsampleRatio410:
		u.h, u.v = 4, 2
	}
	u.width = (s.Rect.Dx() + u.h - 1) / u.h
	u.height = (s.Rect.Dy() + u.v - 1) / u.v
	u.sums = make([]int32, u.width)
	u.cb, u.cr = make([]byte, u.width*u.h), make([]byte, u.width*u.h)
	return u
}

// row returns image row y of a chroma plane. Factors of 2 interpolate linearly between sample centres, with weights 3/4 and 1/4
// on each axis, and round as libjpeg-turbo does. Other factors, and planes narrower than 3, repeat samples.
func (u *upsampler) row(plane []byte, y int, out []byte) []byte {
	near := plane[y/u.v*u.stride:][:u.width]
	fancy := u.h == 1 && u.v <= 2 || u.h == 2 && u.width > 2
	switch {
	case !fancy:
		for x := range out {
			out[x] = near[x/u.h]
		}
		return out
	case u.v == 1 && u.h == 1:
		return near
	case u.v == 1:
		for x, v := range near {
			u.sums[x] = int32(v)
		}
		widen(out, u.sums, 1, 2, 2)
		return out
	}
	far := plane[u.otherRow(y)*u.stride:][:u.width]
	for x, v := range near {
		u.sums[x] = 3*int32(v) + int32(far[x])
	}
	if u.h == 2 {
		widen(out, u.sums, 8, 7, 4)
		return out
	}
	for x, v := range u.sums {
		out[x] = byte((v + 1 + int32(y&1)) >> 2)
	}
	return out
}

// otherRow returns the second chroma row that image row y interpolates from; at the edge it is the nearest row itself.
func (u *upsampler) otherRow(y int) int {
	if y&1 == 0 {
		return max(y/2-1, 0)
	}
	return min(y/2+1, u.height-1)
}

// widen doubles the width of a row: each sample gives a left and a right pixel, 3/4 of it plus 1/4 of the neighbour on that side.
func widen(out []byte, in []int32, left, right int32, shift uint) {
	last := len(in) - 1
	for i, v := range in {
		l, r := v, v
		if i > 0 {
			l = in[i-1]
		}
		if i < last {
			r = in[i+1]
		}
		out[2*i] = byte((3*v + l + left) >> shift)
		out[2*i+1] = byte((3*v + r + right) >> shift)
	}
}
