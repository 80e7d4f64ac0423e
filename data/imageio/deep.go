package imageio

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"

	"golang.org/x/image/tiff"
)

// Deep is an image of 16 bits a value: Height x Width pixels of R, G, B, row by row.
type Deep struct {
	Height, Width int
	Values        []uint16
}

// DecodeDeep decodes the bytes of a PNG or TIFF file with 16 bits a value. It returns nil for other images, which Decode reads without loss.
// Grey is repeated three times. Alpha is dropped.
func DecodeDeep(file []byte) (*Deep, error) {
	config, full := png.DecodeConfig, png.Decode
	switch {
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")):
		if len(file) < 25 || file[24] != 16 { // the header's bit depth
			return nil, nil
		}
	case isTIFF(file):
		config, full = tiff.DecodeConfig, tiff.Decode
	default:
		return nil, nil
	}
	src, err := decode(file, config, full)
	if err != nil {
		return nil, err
	}
	b := src.Bounds()
	d := &Deep{Height: b.Dy(), Width: b.Dx()}
	switch s := src.(type) {
	case *image.Gray16:
		d.take(s.Pix, s.Stride, 2, [3]int{0, 0, 0})
	case *image.RGBA64:
		d.take(s.Pix, s.Stride, 8, [3]int{0, 2, 4})
	case *image.NRGBA64:
		d.take(s.Pix, s.Stride, 8, [3]int{0, 2, 4})
	default:
		return nil, nil
	}
	return d, nil
}

// take reads big-endian values. A pixel has pitch bytes; its colours begin at the given bytes.
func (d *Deep) take(pix []byte, stride, pitch int, colours [3]int) {
	d.Values = make([]uint16, 0, 3*d.Height*d.Width)
	for y := range d.Height {
		for x := range d.Width {
			for _, at := range colours {
				d.Values = append(d.Values, binary.BigEndian.Uint16(pix[y*stride+x*pitch+at:]))
			}
		}
	}
}
