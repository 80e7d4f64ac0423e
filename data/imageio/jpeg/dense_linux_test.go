package jpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/testkit/costtest"
)

// craft writes files that are small for their images.
type craft struct{ bytes.Buffer }

func (c *craft) segment(marker byte, body ...byte) {
	c.Write([]byte{0xff, marker})
	binary.Write(c, binary.BigEndian, uint16(len(body)+2))
	c.Write(body)
}

// start writes all segments of a grey image up to the first scan. Both Huffman tables have one code of one bit, 0, for a symbol.
func (c *craft) start(frame byte, height, width int, dc, ac byte) {
	c.Write([]byte{0xff, markerSOI})
	c.segment(markerDQT, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	c.segment(frame, 8, byte(height>>8), byte(height), byte(width>>8), byte(width), 1, 1, 0x11, 0)
	for class, symbol := range []byte{dc, ac} {
		c.segment(markerDHT, append([]byte{byte(class << 4), 1}, append(make([]byte, 15), symbol)...)...)
	}
}

func (c *craft) scan(first, last, bits byte, data []byte) {
	c.segment(markerSOS, 1, 1, 0, first, last, bits)
	c.Write(data)
}

// TestDense: files of 1 MB whose images take as long as they can. Those that would take longer than a second of processor time are refused.
func TestDense(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const size = 1 << 20
	const side = 8192
	baseline := func(height, width int) []byte {
		var c craft
		c.start(0xc0, height, width, 0, 0)
		c.scan(0, 63, 0, make([]byte, size)) // two bits a block: no difference, no coefficient
		return c.Bytes()
	}
	progressive := func(scan func(c *craft, i int)) []byte {
		var c craft
		c.start(0xc2, side, side, 0, 0xe0) // an AC scan is runs of up to 32767 blocks without coefficients
		for i := 0; c.Len() < size; i++ {
			scan(&c, i)
		}
		return c.Bytes()
	}
	runs := make([]byte, 80) // for 1 million blocks
	random := make([]byte, size)
	for i := range random {
		random[i] = byte(i*i>>3) & 0x7f
	}
	arithmetic := func(frame byte, height, width int, last byte) []byte {
		var c craft
		c.start(frame, height, width, 0, 0)
		c.scan(0, last, 0, random)
		return c.Bytes()
	}
	for _, f := range []struct {
		name  string
		file  []byte
		dense bool
	}{
		{"as many blocks as the data has", baseline(65500, 65500), true},
		{"as many as are allowed", baseline(3*side/2, side-100), false},
		{"nothing but the headers", baseline(side, side/2)[:700], false},
		{"scans of no coefficients", progressive(func(c *craft, i int) { c.scan(1, 63, 0, runs) }), true},
		{"refinements of no coefficients", progressive(func(c *craft, i int) { c.scan(1, 63, 0x10, runs) }), true},
		{"scans of few coefficients", progressive(func(c *craft, i int) { c.scan(1, 1, 0, runs) }), true},
		{"DC scans", progressive(func(c *craft, i int) { c.scan(0, 0, 0, make([]byte, size/4)) }), false},
		{"arithmetic codes", arithmetic(0xc9, side, side, 63), false},
		{"arithmetic scans", arithmetic(0xca, side, side, 0), false},
	} {
		took, memory, err := cost(f.file)
		for again := 0; took > costtest.Seconds(1) && again < 3; again++ { // another program may have had the caches
			took, _, _ = cost(f.file)
		}
		if errors.Is(err, ErrDense) != f.dense || took > 2*costtest.Seconds(1) || memory > 20 {
			t.Errorf("%s: %v of processor time, %.1f bytes a pixel, error %v; is it too dense: want %t", f.name, took, memory, err, f.dense)
		}
		t.Logf("%s: %v of processor time, %.1f bytes a pixel, %v", f.name, took, memory, err)
	}
}

// cost decodes a file. It returns the time of the processor and the bytes that were allocated for a pixel.
func cost(file []byte) (took time.Duration, bytesPerPixel float64, err error) {
	var d *Decoder
	took, allocated := costtest.Of(func() {
		if d, err = Open(file); err == nil {
			err = read(d)
		}
	})
	if d != nil {
		bytesPerPixel = allocated / float64(d.Width) / float64(d.Height)
	}
	return took, bytesPerPixel, err
}

// read makes all rows of pixels.
func read(d *Decoder) error {
	if err := d.Decode(); err != nil {
		return err
	}
	rows, row := d.Rows(), make([]byte, 3*d.Width)
	for y := range d.Height {
		rows.BGR(y, row)
	}
	return rows.End()
}
