package imageio

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
)

// maxPixelsPerByte is more than any of the formats can pack: deflate reaches 1032 to 1, with 8 pixels a byte in PNGs. A
// damaged header must not make the decoder allocate gigabytes.
const maxPixelsPerByte = 8300

// decode runs one of the standard library's decoders after a look at the image's size.
func decode(file []byte, config func(io.Reader) (image.Config, error), full func(io.Reader) (image.Image, error)) (image.Image, error) {
	head := &reader{bytes.NewReader(file), false}
	c, err := config(head)
	if err != nil {
		return nil, head.explain(err)
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width > maxPixels/c.Height {
		return nil, fmt.Errorf("an image of %d x %d pixels", c.Width, c.Height)
	}
	if c.Width*c.Height/maxPixelsPerByte > len(file) {
		return nil, fmt.Errorf("an image of %d x %d pixels cannot be in %d bytes", c.Width, c.Height, len(file))
	}
	r := &reader{bytes.NewReader(file), false}
	im, err := full(r)
	return im, r.explain(err)
}

// reader is a file that notes whether a decoder wants more of it than there is.
type reader struct {
	*bytes.Reader
	over bool
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.over = r.over || errors.Is(err, io.EOF)
	return n, err
}

// explain says of a decoder's error that the file ends early where that is so.
func (r *reader) explain(err error) error {
	if err != nil && (r.over || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return fmt.Errorf("the image file ends early: %w", err)
	}
	return err
}

// colours converts any image to B, G, R, dropping alpha without multiplying by it.
func colours(src image.Image) *Image {
	r := src.Bounds()
	dst := New(r.Dy(), r.Dx(), 3)
	for y := range dst.Height {
		out := dst.Pix[y*dst.Width*3:][:dst.Width*3]
		switch s := src.(type) {
		case *image.NRGBA:
			swap(out, s.Pix[y*s.Stride:], 4, 1)
		case *image.RGBA: // the decoders use it for opaque images
			swap(out, s.Pix[y*s.Stride:], 4, 1)
		case *image.NRGBA64:
			swap(out, s.Pix[y*s.Stride:], 8, 2)
		case *image.RGBA64:
			swap(out, s.Pix[y*s.Stride:], 8, 2)
		case *image.Paletted:
			lookUp(out, s.Pix[y*s.Stride:], palette(s))
		default:
			panic(fmt.Sprintf("imageio: decoder returned %T", src))
		}
	}
	return dst
}

// swap writes R, G, B values, which are pitch bytes a pixel and step bytes a value (the high byte first), as B, G, R.
func swap(out, in []byte, pitch, step int) {
	for i, at := 0, 0; i < len(out); i, at = i+3, at+pitch {
		out[i], out[i+1], out[i+2] = in[at+2*step], in[at+step], in[at]
	}
}

// palette returns a palette as B, G, R, alpha, black where a pixel has no entry.
func palette(s *image.Paletted) *[256][4]byte {
	var table [256][4]byte
	for i, c := range s.Palette {
		table[i] = straight(c)
	}
	return &table
}

func lookUp(out, in []byte, table *[256][4]byte) {
	for i := 0; i < len(out); i += 3 {
		copy(out[i:i+3], table[in[i/3]][:3])
	}
}
