package jpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Markers, the byte that follows ff.
const (
	markerTEM  = 0x01
	markerSOF0 = 0xc0 // frames: c0 to cf but for these three
	markerDHT  = 0xc4
	markerJPG  = 0xc8
	markerDAC  = 0xcc
	markerRST0 = 0xd0
	markerRST7 = 0xd7
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerDQT  = 0xdb
	markerDNL  = 0xdc
	markerDRI  = 0xdd
	markerAPP0 = 0xe0
	markerAPPF = 0xef
	markerCOM  = 0xfe
)

// errEnd is the end of the file before the first scan.
var errEnd = errors.New("the JPEG file ends early")

// nextMarker reads up to the next marker. The end of the file counts as an end of the image, once a scan has begun.
func (d *Decoder) nextMarker() (byte, error) {
	if m := d.last; m != 0 {
		d.last = 0
		return m, nil
	}
	skipped := 0
	for {
		at := bytes.IndexByte(d.file[d.pos:], 0xff)
		if at < 0 {
			break
		}
		skipped += at
		for d.pos += at + 1; d.pos < len(d.file) && d.file[d.pos] == 0xff; d.pos++ {
		}
		if d.pos == len(d.file) {
			break
		}
		m := d.file[d.pos]
		if d.pos++; m != 0 {
			if skipped > 0 {
				d.warn("bytes before a marker are skipped")
			}
			return m, nil
		}
		skipped += 2
	}
	d.pos = len(d.file)
	if d.scans == 0 && d.scan.of == nil {
		return 0, errEnd
	}
	d.warn(earlyEnd)
	return markerEOI, nil
}

// segment reads the next marker and its segment, and returns the marker. A scan's segment is its header.
func (d *Decoder) segment() (byte, error) {
	m, err := d.nextMarker()
	if err != nil {
		return 0, err
	}
	switch {
	case m == markerEOI, m == markerTEM, m >= markerRST0 && m <= markerRST7:
		return m, nil
	case m == markerSOI:
		return 0, errors.New("a second image begins inside the JPEG file")
	}
	skipped := m == markerCOM || m == markerDNL || m >= markerAPP0 && m <= markerAPPF
	body, err := d.body(skipped)
	if err != nil {
		return 0, err
	}
	switch {
	case m == markerDHT:
		err = d.huffmanTables(body)
	case m == markerDAC:
		err = d.condition.read(body)
	case m == markerDQT:
		err = d.quantTables(body)
	case m == markerDRI:
		if len(body) != 2 {
			return 0, wrongLength(m, body)
		}
		d.restart = int(binary.BigEndian.Uint16(body))
	case m == markerSOS:
		err = d.scanHeader(body)
	case m >= markerSOF0 && m <= 0xcf && m != markerJPG:
		err = d.frame(m, body)
	case skipped:
		d.application(m, body)
	default:
		err = fmt.Errorf("marker ff %02x is unknown", m)
	}
	return m, err
}

// body reads a segment's length and content. A length that does not include itself is passed over if the segment can be skipped.
func (d *Decoder) body(skipped bool) ([]byte, error) {
	n := int(binary.BigEndian.Uint16(d.take(2)))
	if n < 2 && skipped {
		return nil, nil
	}
	if n < 2 {
		return nil, fmt.Errorf("a segment of length %d; it includes the 2 bytes of its length", n)
	}
	return d.take(n - 2), nil
}

// take returns the next n bytes. Behind the end of the file, libjpeg finds ff d9 over and over again.
func (d *Decoder) take(n int) []byte {
	if missing := n - len(d.file[d.pos:]); missing > 0 {
		d.warn(earlyEnd)
		d.file = append(d.file[:len(d.file):len(d.file)], bytes.Repeat([]byte{0xff, markerEOI}, (missing+1)/2)...)
	}
	d.pos += n
	return d.file[d.pos-n : d.pos]
}

func wrongLength(marker byte, body []byte) error {
	return fmt.Errorf("the segment of marker ff %02x has %d bytes, which is no length for its content", marker, len(body)+2)
}

// natural lists the places of coefficients in a block by their order in the file, the zigzag of T.81. Damaged files can have up to 16 more.
var natural = [64 + 16]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
	63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
}

// quantTables reads a DQT segment.
func (d *Decoder) quantTables(body []byte) error {
	for len(body) > 0 {
		index, bytes := int(body[0]&15), 1
		if body[0]>>4 != 0 {
			bytes = 2
		}
		if index > 3 {
			return fmt.Errorf("quantisation table %d; their numbers are 0 to 3", index)
		}
		if len(body) < 1+64*bytes {
			return wrongLength(markerDQT, body)
		}
		t := new([64]uint16)
		for k := range 64 {
			v := body[1+k*bytes:]
			if t[natural[k]] = uint16(v[0]); bytes == 2 {
				t[natural[k]] = binary.BigEndian.Uint16(v)
			}
		}
		d.quant[index], body = t, body[1+64*bytes:]
	}
	return nil
}

// huffmanTables reads a DHT segment.
func (d *Decoder) huffmanTables(body []byte) error {
	for len(body) > 0 {
		if len(body) < 17 {
			return wrongLength(markerDHT, body)
		}
		class, index := int(body[0]>>4), int(body[0]&15)
		if class > 1 || index > 3 {
			return fmt.Errorf("Huffman table %d of class %d; there are tables 0 to 3 of classes 0 and 1", index, class)
		}
		count := 0
		for _, n := range body[1:17] {
			count += int(n)
		}
		if count > 256 || count > len(body)-17 {
			return fmt.Errorf("a Huffman table of %d codes in a segment of %d bytes", count, len(body)+2)
		}
		d.huff[class][index] = &codes{counts: [16]byte(body[1:17]), symbols: append([]byte(nil), body[17:17+count]...)}
		body = body[17+count:]
	}
	return nil
}

// frame reads the header of a frame.
func (d *Decoder) frame(marker byte, body []byte) error {
	switch marker {
	case 0xc0, 0xc1:
	case 0xc2:
		d.progressive = true
	case 0xc9:
		d.arithmetic = true
	case 0xca:
		d.progressive, d.arithmetic = true, true
	default:
		return fmt.Errorf("a lossless or hierarchical JPEG (marker ff %02x) is not supported", marker)
	}
	if d.components != nil {
		return errors.New("the JPEG has two frames")
	}
	if len(body) < 6 || len(body) != 6+3*int(body[5]) {
		return wrongLength(marker, body)
	}
	d.Height, d.Width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
	n := int(body[5])
	switch {
	case body[0] != 8:
		return fmt.Errorf("a JPEG of %d bits a value; 8 are supported", body[0])
	case d.Height == 0 || d.Width == 0 || n == 0:
		return fmt.Errorf("a JPEG of height %d, width %d and %d components", d.Height, d.Width, n)
	case d.Height > maxSide || d.Width > maxSide:
		return fmt.Errorf("a JPEG of height %d and width %d; %d is the most", d.Height, d.Width, maxSide)
	case n > 10:
		return fmt.Errorf("a JPEG of %d components; 10 are the most", n)
	}
	for b := body[6:]; len(b) > 0; b = b[3:] {
		c := component{id: int(b[0]), h: int(b[1] >> 4), v: int(b[1] & 15), table: int(b[2])}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 {
			return fmt.Errorf("component %d has sampling factors %d and %d; they are 1 to 4", c.id, c.h, c.v)
		}
		d.components = append(d.components, c)
		d.maxH, d.maxV = max(d.maxH, c.h), max(d.maxV, c.v)
	}
	d.layOut()
	return nil
}

// layOut sets the sizes of the components.
func (d *Decoder) layOut() {
	for i := range d.components {
		c := &d.components[i]
		c.width, c.height = ceil(d.Width*c.h, d.maxH), ceil(d.Height*c.v, d.maxV)
		c.across, c.down = ceil(d.Width*c.h, 8*d.maxH), ceil(d.Height*c.v, 8*d.maxV)
		c.stride, c.rows = ceil(d.Width, 8*d.maxH)*c.h, ceil(d.Height, 8*d.maxV)*c.v
		for k := range c.bits {
			c.bits[k] = -1
		}
	}
}

func ceil(a, b int) int { return (a + b - 1) / b }

// application reads the segments of JFIF and Adobe. Others are skipped.
func (d *Decoder) application(marker byte, body []byte) {
	switch {
	case marker == markerAPP0 && len(body) >= 14 && bytes.HasPrefix(body, []byte("JFIF\x00")):
		d.jfif = true
	case marker == markerAPP0+14 && len(body) >= 12 && bytes.HasPrefix(body, []byte("Adobe")):
		d.adobe = int(body[11])
	}
}
