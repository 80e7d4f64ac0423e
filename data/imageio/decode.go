package imageio

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"

	"github.com/swcaffe/swcaffe/internal/pages"
)

// maxPixelsPerByte exceeds the densest packing of all formats: PNG, with deflate's 1032 to 1 and 8 pixels a byte. It keeps a
// damaged header from making the decoder allocate gigabytes.
const maxPixelsPerByte = 8300

// decode runs one of the standard library's decoders after checking the image's size.
func decode(file []byte, config func(io.Reader) (image.Config, error), full func(io.Reader) (image.Image, error)) (image.Image, error) {
	head := &reader{bytes.NewReader(file), false}
	c, err := config(head)
	if err != nil {
		return nil, head.explain(err)
	}
	if err := checkDensity(c.Width, c.Height, file); err != nil {
		return nil, err
	}
	if err := pages.Room(float64(c.Width) * float64(c.Height) * bytesPerPixel(c.ColorModel)); err != nil {
		return nil, fmt.Errorf("an image of %d x %d pixels: %w", c.Width, c.Height, err)
	}
	r := &reader{bytes.NewReader(file), false}
	im, err := full(r)
	return im, r.explain(err)
}

// checkDensity checks an image's size, also against that of its file.
func checkDensity(width, height int, file []byte) error {
	if err := checkSize(width, height); err != nil {
		return err
	}
	if width*height/maxPixelsPerByte > len(file) {
		return fmt.Errorf("an image of %d x %d pixels cannot be in %d bytes", width, height, len(file))
	}
	return nil
}

func checkSize(width, height int) error {
	if width <= 0 || height <= 0 || width > maxSide || height > maxSide || width > maxPixels/height {
		return fmt.Errorf("an image of %d x %d pixels: it may have %d, and sides of %d", width, height, maxPixels, maxSide)
	}
	return nil
}

// bytesPerPixel is the memory per pixel of the decoded image, plus the converted image if the conversion is not in place.
func bytesPerPixel(m color.Model) float64 {
	switch m {
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	case color.RGBAModel, color.NRGBAModel:
		return 4
	case color.Gray16Model:
		return 2 + 3
	}
	return 1 + 3 // grey or palette
}

// reader records whether a decoder has tried to read past the end of the file.
type reader struct {
	*bytes.Reader
	over bool
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.over = r.over || errors.Is(err, io.EOF)
	return n, err
}

// explain turns a decoder's error into "the file ends early" if the decoder has read past the end.
func (r *reader) explain(err error) error {
	if err != nil && (r.over || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return fmt.Errorf("the image file ends early: %w", err)
	}
	return err
}

// colours converts any image to B, G, R. It drops alpha, without multiplying by it.
func colours(src image.Image) rows {
	b := src.Bounds()
	r := rows{height: b.Dy(), width: b.Dx(), channels: 3}
	switch s := src.(type) {
	case *image.NRGBA:
		r.write, r.storage = func(y int, out []byte) { swap(out, s.Pix[y*s.Stride:], 4, 1) }, s.Pix
	case *image.RGBA: // Go's decoders use this type for opaque images
		r.write, r.storage = func(y int, out []byte) { swap(out, s.Pix[y*s.Stride:], 4, 1) }, s.Pix
	case *image.NRGBA64:
		r.write, r.storage = func(y int, out []byte) { swap(out, s.Pix[y*s.Stride:], 8, 2) }, s.Pix
	case *image.RGBA64:
		r.write, r.storage = func(y int, out []byte) { swap(out, s.Pix[y*s.Stride:], 8, 2) }, s.Pix
	case *image.Paletted:
		table := palette(s)
		r.write = func(y int, out []byte) { lookUp(out, s.Pix[y*s.Stride:], table) }
	default:
		panic(fmt.Sprintf("imageio: decoder returned %T", src))
	}
	return r
}

// swap converts R, G, B values to B, G, R. A pixel of in has pitch bytes, a value step bytes, of which the first is the highest.
func swap(out, in []byte, pitch, step int) {
	for i, at := 0, 0; i < len(out); i, at = i+3, at+pitch {
		out[i], out[i+1], out[i+2] = in[at+2*step], in[at+step], in[at]
	}
}

// palette returns the palette of an image as B, G, R, alpha. Missing entries are black.
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
