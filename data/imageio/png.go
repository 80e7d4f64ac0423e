package imageio

import (
	"errors"
	"fmt"
	"image"
	"image/color"
)

// PNG colour types, from the header chunk.
const (
	pngGray      = 0
	pngGrayAlpha = 4
)

// fromPNG converts a decoded PNG of the given colour type.
func fromPNG(src image.Image, colourType byte, mode Mode) (rows, error) {
	if mode == Unchanged {
		switch src.(type) {
		case *image.Gray16, *image.RGBA64, *image.NRGBA64:
			return rows{}, errors.New("16-bit PNG: its pixels must have 8 bits here, or force_color or force_gray must be set")
		}
	}
	if colourType == pngGray || colourType == pngGrayAlpha {
		grey := luminance(src)
		switch {
		case mode == Color:
			return grey.replicate(), nil
		case mode == Unchanged && colourType == pngGrayAlpha:
			return grey.replicate().withAlpha(src), nil
		}
		return grey, nil
	}
	dst := colours(src)
	switch {
	case mode == Gray:
		return dst.gray(pngWeights), nil
	case mode == Unchanged && transparent(src):
		return dst.withAlpha(src), nil
	}
	return dst, nil
}

// luminance returns the grey values of a colourless image.
func luminance(src image.Image) rows {
	b := src.Bounds()
	r := rows{height: b.Dy(), width: b.Dx(), channels: 1}
	every := func(pix []byte, stride, pitch int) {
		r.write, r.storage = func(y int, out []byte) { pick(out, pix[y*stride:], pitch) }, pix
	}
	switch s := src.(type) {
	case *image.Gray:
		every(s.Pix, s.Stride, 1)
	case *image.Gray16:
		every(s.Pix, s.Stride, 2)
	case *image.NRGBA: // grey with alpha
		every(s.Pix, s.Stride, 4)
	case *image.NRGBA64:
		every(s.Pix, s.Stride, 8)
	default:
		panic(fmt.Sprintf("imageio: decoder returned %T for a grey image", src))
	}
	return r
}

func pick(out, in []byte, pitch int) {
	if pitch == 1 {
		copy(out, in)
		return
	}
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

// straight returns B, G, R and alpha; the colours are not multiplied by alpha.
func straight(c color.Color) [4]byte {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return [4]byte{n.B, n.G, n.R, n.A}
}
