package imageio

import (
	"errors"
	"image"
	"image/color"
)

// PNG colour types, from the header chunk.
const (
	pngGray      = 0
	pngGrayAlpha = 4
)

// fromPNG converts a decoded PNG of the given colour type.
func fromPNG(src image.Image, colourType byte, mode Mode) (*Image, error) {
	if mode == Unchanged {
		switch src.(type) {
		case *image.Gray16, *image.RGBA64, *image.NRGBA64:
			return nil, errors.New("16-bit PNG: its pixels must have 8 bits here, or force_color or force_gray must be set")
		}
	}
	if colourType == pngGray || colourType == pngGrayAlpha {
		grey := luminance(src)
		switch {
		case mode == Color:
			return grey.replicate(), nil
		case mode == Unchanged && colourType == pngGrayAlpha:
			return withAlpha(grey.replicate(), src), nil
		}
		return grey, nil
	}
	dst := colours(src)
	switch {
	case mode == Gray:
		return dst.gray(pngWeights), nil
	case mode == Unchanged && transparent(src):
		return withAlpha(dst, src), nil
	}
	return dst, nil
}

// luminance returns the grey values of an image without colour.
func luminance(src image.Image) *Image {
	r := src.Bounds()
	dst := New(r.Dy(), r.Dx(), 1)
	for y := range dst.Height {
		out := dst.Pix[y*dst.Width:][:dst.Width]
		switch s := src.(type) {
		case *image.Gray:
			copy(out, s.Pix[y*s.Stride:])
		case *image.Gray16:
			pick(out, s.Pix[y*s.Stride:], 2)
		case *image.NRGBA: // grey with transparency
			pick(out, s.Pix[y*s.Stride:], 4)
		case *image.NRGBA64:
			pick(out, s.Pix[y*s.Stride:], 8)
		}
	}
	return dst
}

func pick(out, in []byte, pitch int) {
	for i := range out {
		out[i] = in[i*pitch]
	}
}

// transparent reports whether OpenCV gives the image an alpha channel.
func transparent(src image.Image) bool {
	switch s := src.(type) {
	case *image.NRGBA:
		return true
	case *image.Paletted:
		for _, c := range s.Palette {
			if straight(c)[3] != 255 {
				return true
			}
		}
	}
	return false
}

// withAlpha adds the alpha of src to a B, G, R image.
func withAlpha(im *Image, src image.Image) *Image {
	dst := New(im.Height, im.Width, 4)
	for i := range im.Height * im.Width {
		copy(dst.Pix[4*i:4*i+3], im.Pix[3*i:])
		dst.Pix[4*i+3] = straight(src.At(i%im.Width, i/im.Width))[3]
	}
	return dst
}

// straight returns B, G, R and alpha, not multiplied by it.
func straight(c color.Color) [4]byte {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return [4]byte{n.B, n.G, n.R, n.A}
}
