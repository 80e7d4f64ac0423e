package imageio

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// webpBlock decodes block i, which is a WebP. Alpha stands apart.
func (t *tiffFile) webpBlock(i int, raw []byte, width, height, samples int) ([]byte, error) {
	if t.bits != 8 || t.separate || samples != 3 && samples != 4 {
		return nil, fmt.Errorf("a TIFF image compressed by WebP with %d samples of %d bits, planes apart: %v", samples, t.bits, t.separate)
	}
	out := make([]byte, width*height*samples)
	if !isWebP(raw) {
		t.damaged(i, fmt.Errorf("a block compressed by WebP begins with % x", raw[:min(8, len(raw))]))
		return out, nil
	}
	mode := Color
	if samples == 4 {
		mode = Unchanged
	}
	if left := uint32(len(raw) - 8); binary.LittleEndian.Uint32(raw[4:]) > left { // libtiff hands libwebp all that is there, whatever size the WebP states
		raw = slices.Clone(raw)
		binary.LittleEndian.PutUint32(raw[4:], left)
	}
	r, err := decodeWebP(raw, mode)
	if err != nil {
		t.damaged(i, err)
		return out, nil
	}
	if r.width != width || r.height < height {
		return nil, fmt.Errorf("a TIFF image has a WebP of %d x %d pixels for a block of %d x %d", r.width, r.height, width, height)
	}
	row := make([]byte, width*r.channels)
	for y := range height {
		r.write(y, row)
		for x := range width {
			p := out[(y*width+x)*samples:][:samples]
			copy(p, row[x*r.channels:][:r.channels])
			if p[0], p[2] = p[2], p[0]; r.channels < samples {
				p[3] = 255
			}
		}
	}
	return out, nil
}
