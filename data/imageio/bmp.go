package imageio

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// bmpFile is the header of a BMP as OpenCV reads it. golang.org/x/image/bmp knows neither runs nor 16 bits nor the header of OS/2.
type bmpFile struct {
	width, height int
	down          bool // the first row of the file is the highest
	bits          int  // 1, 4, 8, 15 (5 a colour), 16 (5, 6, 5), 24, 32
	method        int
	palette       [256][3]byte // B, G, R
	grey          bool         // OpenCV takes the file for a grey one: all colours of its palette are grey, or its header is that of OS/2
	pixels        []byte       // from where the header says
	indices       []byte       // of a row
}

// Ways of storing.
const (
	bmpPlain  = 0
	bmpRuns8  = 1
	bmpRuns4  = 2
	bmpFields = 3
)

var errCutBMP = errors.New("the BMP image ends early")

// decodeBMP reads a BMP.
func decodeBMP(file []byte, mode Mode) (rows, error) {
	b, err := parseBMP(file)
	if err != nil {
		return rows{}, err
	}
	if err := checkDensity(b.width, b.height, pixelBytes, file); err != nil {
		return rows{}, err
	}
	r := rows{height: b.height, width: b.width, channels: 3}
	if b.method == bmpRuns8 || b.method == bmpRuns4 {
		indices, err := b.runs()
		if err != nil {
			return rows{}, err
		}
		r.write = b.flipped(func(y int, out []byte) { b.lookUp(out, indices[y*b.width:], 8) })
	} else {
		pitch := ((b.width*(b.bits+b.bits%2)+7)/8 + 3) &^ 3
		if b.bits == 1 {
			pitch = ((b.width+7)/8 + 3) &^ 3
		}
		if len(b.pixels) < pitch*b.height {
			return rows{}, errCutBMP
		}
		r.write = b.flipped(func(y int, out []byte) { b.row(out, b.pixels[y*pitch:]) })
		if b.bits == 32 && mode == Unchanged && !b.grey {
			return r.withAlpha(func(x, y int) byte {
				if !b.down {
					y = b.height - 1 - y
				}
				return b.pixels[y*pitch+4*x+3]
			}), nil
		}
	}
	if mode == Gray || mode == Unchanged && b.grey {
		return r.gray(readerWeights), nil
	}
	return r, nil
}

// parseBMP reads the header.
func parseBMP(file []byte) (*bmpFile, error) {
	b := &bmpFile{}
	if len(file) < 18 {
		return nil, errCutBMP
	}
	offset, size := int32(binary.LittleEndian.Uint32(file[10:])), int32(binary.LittleEndian.Uint32(file[14:]))
	var err error
	switch {
	case size >= 36 && int(size) <= len(file)-14:
		err = b.header(file[14:14+size], file[14+size:])
	case size == 12 && len(file) >= 26:
		err = b.os2Header(file[14:26], file[26:])
	case size >= 36 || size == 12:
		return nil, errCutBMP
	default:
		return nil, fmt.Errorf("the BMP image's header has %d bytes; 12 and from 36 on are known", size)
	}
	if err != nil {
		return nil, err
	}
	if err := checkSize(b.width, b.height); err != nil {
		return nil, err
	}
	if offset < 0 || int(offset) > len(file) {
		return nil, errCutBMP
	}
	b.pixels = file[offset:]
	b.indices = make([]byte, b.width)
	return b, nil
}

// header reads a header of Windows.
func (b *bmpFile) header(h, rest []byte) error {
	b.width, b.height = int(int32(binary.LittleEndian.Uint32(h[4:]))), int(int32(binary.LittleEndian.Uint32(h[8:])))
	b.bits, b.method = int(binary.LittleEndian.Uint16(h[14:])), int(binary.LittleEndian.Uint32(h[16:]))
	if b.down = b.height < 0; b.down {
		b.height = -b.height
	}
	switch bits := b.bits; {
	case bits == 4 && b.method == bmpRuns4, bits == 8 && b.method == bmpRuns8:
	case b.method == bmpPlain && (bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32):
	case b.method == bmpFields && (bits == 16 || bits == 32):
	default:
		return fmt.Errorf("a BMP image of %d bits a pixel, stored in way %d: neither OpenCV nor swcaffe reads that", bits, b.method)
	}
	switch {
	case b.bits <= 8:
		n := int(int32(binary.LittleEndian.Uint32(h[32:])))
		if n == 0 {
			n = 1 << b.bits
		}
		if n < 0 || n > 256 {
			return fmt.Errorf("the BMP image has a palette of %d colours", n)
		}
		return b.colours(rest, n, 4)
	case b.bits == 16 && b.method == bmpPlain:
		b.bits = 15
	case b.bits == 16:
		if len(rest) < 12 {
			return errCutBMP
		}
		masks := [3]uint32{binary.LittleEndian.Uint32(rest), binary.LittleEndian.Uint32(rest[4:]), binary.LittleEndian.Uint32(rest[8:])}
		switch masks {
		case [3]uint32{0x7c00, 0x3e0, 0x1f}:
			b.bits = 15
		case [3]uint32{0xf800, 0x7e0, 0x1f}:
		default:
			return fmt.Errorf("a BMP image of 16 bits with red in %#x, green in %#x and blue in %#x: OpenCV and swcaffe read 5, 5, 5 and 5, 6, 5 bits", masks[0], masks[1], masks[2])
		}
	}
	return nil
}

// os2Header reads the header of OS/2.
func (b *bmpFile) os2Header(h, rest []byte) error {
	b.width, b.height = int(binary.LittleEndian.Uint16(h[4:])), int(binary.LittleEndian.Uint16(h[6:]))
	b.bits = int(binary.LittleEndian.Uint16(h[10:]))
	switch b.bits {
	case 1, 4, 8:
		err := b.colours(rest, 1<<b.bits, 3)
		b.grey = true
		return err
	case 24, 32:
		b.grey = true
		return nil
	}
	return fmt.Errorf("a BMP image of %d bits a pixel with a header of 12 bytes: neither OpenCV nor swcaffe reads that", b.bits)
}

// colours reads a palette of n colours of some bytes each.
func (b *bmpFile) colours(in []byte, n, size int) error {
	if len(in) < n*size {
		return errCutBMP
	}
	for i := range n {
		copy(b.palette[i][:], in[i*size:])
	}
	b.grey = true
	for _, c := range b.palette[:1<<b.bits] {
		b.grey = b.grey && c[0] == c[1] && c[0] == c[2]
	}
	return nil
}

// flipped counts rows from the lowest unless the file does so from the highest.
func (b *bmpFile) flipped(write func(y int, out []byte)) func(y int, out []byte) {
	if b.down {
		return write
	}
	return func(y int, out []byte) { write(b.height-1-y, out) }
}

// row converts a row of the file to B, G, R.
func (b *bmpFile) row(out, in []byte) {
	switch b.bits {
	case 15, 16:
		for x := range b.width {
			v, p := binary.LittleEndian.Uint16(in[2*x:]), out[3*x:3*x+3]
			if p[0] = byte(v << 3); b.bits == 15 {
				p[1], p[2] = byte(v>>2)&^7, byte(v>>7)&^7
			} else {
				p[1], p[2] = byte(v>>3)&^3, byte(v>>8)&^7
			}
		}
	case 24:
		copy(out, in)
	case 32:
		for x := range b.width {
			copy(out[3*x:3*x+3], in[4*x:])
		}
	default:
		b.lookUp(out, in, b.bits)
	}
}

func (b *bmpFile) lookUp(out, in []byte, bits int) {
	unpackRow(b.indices, in, bits)
	for x, i := range b.indices {
		c := &b.palette[i]
		out[3*x], out[3*x+1], out[3*x+2] = c[0], c[1], c[2]
	}
}
