package data

import (
	"bytes"
	"fmt"

	"github.com/swcaffe/swcaffe/data/imageio"
)

// Pixels are the values of one image, in Bytes or, if Bytes is nil, in Floats. The element at channel c, row y, column x has
// index c*StrideC + y*StrideY + x*StrideX.
type Pixels struct {
	Channels, Height, Width   int
	StrideC, StrideY, StrideX int
	Bytes                     []byte
	Floats                    []float32

	image *imageio.Image // to which Bytes belong; nil: to something else
}

// Recycle hands the memory of pixels that nobody uses any more on.
func (p *Pixels) Recycle() {
	if p.image != nil {
		p.image.Recycle()
	}
}

// imagePixels returns the pixels of an image. They share the image's storage.
func imagePixels(im *imageio.Image) Pixels {
	return Pixels{
		Channels: im.Channels, Height: im.Height, Width: im.Width,
		StrideC: 1, StrideY: im.Width * im.Channels, StrideX: im.Channels,
		Bytes: im.Pix, image: im,
	}
}

// Pixels returns the values of a datum. They share its storage; an encoded datum is decoded as mode says.
func (d *Datum) Pixels(mode imageio.Mode) (Pixels, error) {
	if d.Encoded {
		im, err := imageio.DecodeItem(d.Data, mode)
		if err != nil {
			return Pixels{}, fmt.Errorf("encoded datum: %w", err)
		}
		d.Repaired = im.Repaired
		return imagePixels(im), nil
	}
	p := Pixels{
		Channels: d.Channels, Height: d.Height, Width: d.Width,
		StrideC: d.Height * d.Width, StrideY: d.Width, StrideX: 1,
	}
	if d.Channels <= 0 || d.Height <= 0 || d.Width <= 0 {
		return Pixels{}, fmt.Errorf("datum of %d x %d x %d values (channels x height x width)%s", d.Channels, d.Height, d.Width, d.looksEncoded())
	}
	have := len(d.Floats)
	if len(d.Data) > 0 {
		p.Bytes, have = d.Data, len(d.Data)
	} else {
		p.Floats = d.Floats
	}
	if d.Height > have || d.Width > have/d.Height || d.Channels != have/(d.Height*d.Width) || have%(d.Height*d.Width) != 0 {
		return Pixels{}, fmt.Errorf("datum says %d x %d x %d values (channels x height x width) but holds %d%s", d.Channels, d.Height, d.Width, have, d.looksEncoded())
	}
	return p, nil
}

// looksEncoded says of a datum whose data begins as a JPEG or PNG file that it is not marked as one.
func (d *Datum) looksEncoded() string {
	if bytes.HasPrefix(d.Data, []byte("\xff\xd8\xff")) || bytes.HasPrefix(d.Data, []byte("\x89PNG\r\n")) {
		return "; its data is an image file, for which the record needs encoded: true"
	}
	return ""
}
