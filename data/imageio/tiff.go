package imageio

import (
	"errors"
	"image"
)

// isTIFF reports whether a file begins with the signature of a TIFF, in either byte order.
func isTIFF(file []byte) bool {
	return len(file) > 4 && (string(file[:4]) == "II*\x00" || string(file[:4]) == "MM\x00*")
}

// fromTIFF converts a decoded TIFF as libtiff does for OpenCV. Colours are multiplied by alpha. 16-bit colours are rounded to 8
// bits; 16-bit grey values are truncated.
func fromTIFF(src image.Image, mode Mode) (rows, error) {
	if mode == Unchanged {
		switch src.(type) {
		case *image.Gray16, *image.RGBA64, *image.NRGBA64:
			return rows{}, errors.New("16-bit TIFF: its pixels must have 8 bits here, or force_color or force_gray must be set")
		}
	}
	var dst rows
	switch src.(type) {
	case *image.Gray, *image.Gray16:
		if dst = luminance(src); mode == Color {
			dst = dst.replicate()
		}
		return dst, nil
	case *image.Paletted:
		dst = colours(src)
	default:
		if dst = multiplied(src).rows(); mode != Unchanged || isOpaque(src) {
			dst = dst.withoutAlpha()
		}
	}
	if mode == Gray {
		dst = dst.gray(readerWeights)
	}
	return dst, nil
}

func isOpaque(im image.Image) bool {
	o, ok := im.(interface{ Opaque() bool })
	return ok && o.Opaque()
}

// multiplied returns an image with alpha as B, G, R, alpha, the colours multiplied by alpha.
func multiplied(src image.Image) *Image {
	r := src.Bounds()
	dst := New(r.Dy(), r.Dx(), 4)
	for y := range dst.Height {
		out := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		switch s := src.(type) {
		case *image.RGBA:
			copy(out, s.Pix[y*s.Stride:])
		case *image.NRGBA:
			copy(out, s.Pix[y*s.Stride:])
		case *image.RGBA64:
			round(out, s.Pix[y*s.Stride:])
		case *image.NRGBA64:
			round(out, s.Pix[y*s.Stride:])
		}
	}
	unmultiplied := false
	switch src.(type) {
	case *image.NRGBA, *image.NRGBA64:
		unmultiplied = true
	}
	for i := 0; i < len(dst.Pix); i += 4 {
		p := dst.Pix[i : i+4]
		p[0], p[2] = p[2], p[0]
		for k := range 3 {
			if unmultiplied {
				p[k] = byte((int(p[k])*int(p[3]) + 127) / 255)
			}
		}
	}
	return dst
}

// round rounds big-endian 16-bit values to 8 bits.
func round(out, in []byte) {
	for i := range out {
		v := int(in[2*i])<<8 | int(in[2*i+1])
		out[i] = byte((v + 128) / 257)
	}
}
