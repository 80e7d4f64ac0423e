package imageio

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/data/imageio/jpeg"
)

// jpegBlock decodes block i, which is a JPEG, into out. Tables that blocks share stand in a tag of the file. Only YCbCr is converted, whatever markers the
// JPEG has.
func (t *tiffFile) jpegBlock(out []byte, i int, raw []byte, width, height, samples int) ([]byte, error) {
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
	if d.Components() != samples || d.Width != width || d.Height < height || d.Height > height && !t.isLast(i, height) {
		return nil, fmt.Errorf("a TIFF image has a JPEG of %d x %d pixels of %d values for a block of %d x %d pixels of %d", d.Width, d.Height, d.Components(), width, height, samples)
	}
	if err := checkDensity(d.Width, d.Height, pixelBytes, raw); err != nil {
		return nil, err
	}
	if d.Space = jpeg.Stored; samples == 3 && t.photometric == isYCbCr {
		d.Space = jpeg.YCbCr
	}
	if err := d.Decode(); err != nil { // before the first row, libtiff passes over nothing
		return nil, fmt.Errorf("JPEG in a TIFF: %w", err)
	}
	if t.passes += d.Passes(); t.passes > jpeg.MostPasses(len(t.file)) {
		return nil, fmt.Errorf("%w: the scans of its JPEGs pass over %d blocks", ErrDense, t.passes)
	}
	r := d.Rows()
	for y := range height {
		row := out[y*width*samples:][:width*samples]
		if d.Space == jpeg.Stored {
			r.Samples(y, row)
			continue
		}
		r.BGR(y, row)
		swap(row, row, 3, 1)
	}
	if err := r.End(); err != nil {
		t.damaged(i, err)
	}
	for _, w := range d.Warnings {
		t.damaged(i, errors.New(w))
	}
	return out, nil
}

// isLast reports whether block i, of so many rows, is the last strip, whose JPEG may have more rows than there are.
func (t *tiffFile) isLast(i, height int) bool {
	strips := (t.height + t.blockHeight - 1) / t.blockHeight
	return !t.tiled && i%strips*t.blockHeight+height == t.height
}
