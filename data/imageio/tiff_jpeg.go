package imageio

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/data/imageio/jpeg"
)

// jpegBlock decodes a block that is a JPEG. Tables that blocks share stand in a tag of the file. Only YCbCr is converted, whatever markers the
// JPEG has.
func (t *tiffFile) jpegBlock(raw []byte, width, height, samples int) ([]byte, error) {
	if len(raw) < 2 || t.bits != 8 {
		return nil, errors.New("a TIFF image compressed by JPEG has a block without JPEG")
	}
	if n := len(t.tables); n > 4 { // without the marker of their end, and then without that of the block's beginning
		raw = append(append(make([]byte, 0, n+len(raw)), t.tables[:n-2]...), raw[2:]...)
	}
	d, err := jpeg.Open(raw)
	if err != nil {
		return nil, fmt.Errorf("JPEG in a TIFF: %w", err)
	}
	if d.Components() != samples || samples == 2 || d.Width != width || d.Height < height || d.Height > height && t.tiled {
		return nil, fmt.Errorf("a TIFF image has a JPEG of %d x %d pixels of %d values for a block of %d x %d pixels of %d", d.Width, d.Height, d.Components(), width, height, samples)
	}
	if err := checkDensity(d.Width, d.Height, raw); err != nil {
		return nil, err
	}
	out := make([]byte, width*height*samples)
	if err := d.Decode(); err != nil {
		t.damaged(err)
		return out, nil
	}
	switch {
	case samples == 4:
		d.Space = jpeg.CMYK
	case samples == 3 && t.photometric == isYCbCr && !t.separate:
		d.Space = jpeg.YCbCr
	case samples == 3:
		d.Space = jpeg.RGB
	}
	r := d.Rows()
	for y := range height {
		row := out[y*width*samples:][:width*samples]
		switch samples {
		case 1:
			r.First(y, row)
		case 3:
			r.BGR(y, row)
			for x := 0; x < len(row); x += 3 {
				row[x], row[x+2] = row[x+2], row[x]
			}
		case 4:
			r.CMYK(y, row)
		}
	}
	if err := r.End(); err != nil {
		t.damaged(err)
	}
	for _, w := range d.Warnings {
		t.damaged(errors.New(w))
	}
	return out, nil
}
