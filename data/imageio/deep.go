package imageio

import (
	"bytes"
	"encoding/binary"
)

// Deep is an image of 16 bits a value: Height x Width pixels of R, G, B, row by row.
type Deep struct {
	Height, Width int
	Values        []uint16
}

// DecodeDeep decodes a PNG or TIFF with 16 bits a value, which Decode rounds to 8. Alpha is dropped and grey repeated. It returns nil, and no
// error, for every other file.
func DecodeDeep(file []byte) (*Deep, error) {
	switch {
	case bytes.HasPrefix(file, []byte(pngSignature)):
		if len(file) < 25 || file[24] != 16 { // the header's bit depth
			return nil, nil
		}
		p, err := parsePNG(file)
		if err != nil {
			return nil, err
		}
		pixels, err := p.open(file)
		if err != nil {
			return nil, err
		}
		d := &Deep{Height: p.height, Width: p.width}
		d.Values, err = pixels.deep()
		return d, err
	case isTIFF(file):
		return deepTIFF(file)
	}
	return nil, nil
}

// deepTIFF decodes a TIFF of 16-bit grey or colours, and makes it upright.
func deepTIFF(file []byte) (*Deep, error) {
	t, err := parseTIFF(file)
	if err != nil {
		return nil, err
	}
	if t.bits != 16 || t.photometric != blackIsZero && t.photometric != isRGB || t.photometric == isRGB && t.samples < 3 {
		return nil, nil
	}
	im := New(t.height, t.width, 6) // the bytes of three values
	var b tiffBlock
	for block := range t.across() * t.down() {
		if err := t.decode(&b, block); err != nil {
			return nil, err
		}
		for i := range b.width * b.height {
			x, y := b.x+i%b.width, b.y+i/b.width
			if x >= t.width || y >= t.height {
				continue
			}
			for c := range 3 {
				from := c
				if t.photometric == blackIsZero {
					from = 0
				}
				copy(im.Pix[6*(y*t.width+x)+2*c:][:2], b.samples[2*(i*t.samples+from):])
			}
		}
	}
	if t.damage != nil {
		return nil, t.damage[0].err
	}
	im = im.turned(t.orientation)
	d := &Deep{im.Height, im.Width, make([]uint16, 3*im.Height*im.Width)}
	for i := range d.Values {
		d.Values[i] = binary.BigEndian.Uint16(im.Pix[2*i:])
	}
	return d, nil
}
