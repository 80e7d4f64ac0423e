package jpeg

import (
	"errors"
	"fmt"
)

// scan is a pass over the blocks of some components.
type scan struct {
	of           []*component
	first, last  int // the coefficients that it has, in the order of the file
	high, low    int // the bit above those it has, 0 for its first ones, and the lowest one
	across, down int // MCUs
}

// mostBlocks is T.81's limit on the blocks of an MCU.
const mostBlocks = 10

// mostScans limits the passes over a progressive image, which can be many in a small file.
const mostScans = 1000

// scanHeader reads the header of a scan.
func (d *Decoder) scanHeader(body []byte) error {
	if d.components == nil {
		return errors.New("a scan begins before the frame's header")
	}
	if len(body) < 1 || body[0] < 1 || body[0] > 4 || len(body) != 4+2*int(body[0]) {
		return wrongLength(markerSOS, body)
	}
	n := int(body[0])
	s := scan{first: int(body[1+2*n]), last: int(body[2+2*n]), high: int(body[3+2*n] >> 4), low: int(body[3+2*n] & 15)}
	for i := range n {
		c := d.find(int(body[1+2*i]))
		if c == nil {
			return fmt.Errorf("a scan has the component %d, which the frame lacks", body[1+2*i])
		}
		for _, other := range s.of {
			if other == c {
				return fmt.Errorf("a scan has the component %d twice", c.id)
			}
		}
		c.dc, c.ac = int(body[2+2*i]>>4), int(body[2+2*i]&15)
		s.of = append(s.of, c)
	}
	blocks := 0
	for _, c := range s.of {
		blocks += c.h * c.v
	}
	switch {
	case n == 1:
		s.across, s.down = s.of[0].across, s.of[0].down
	case blocks > mostBlocks:
		return fmt.Errorf("a scan has MCUs of %d blocks; %d are the most", blocks, mostBlocks)
	default:
		s.across, s.down = ceil(d.Width, 8*d.maxH), ceil(d.Height, 8*d.maxV)
	}
	d.scan = s
	return nil
}

func (d *Decoder) find(id int) *component {
	for i := range d.components {
		if d.components[i].id == id {
			return &d.components[i]
		}
	}
	return nil
}

// Decode reads all scans. Damage inside a scan leads to a warning. Damage between scans is an error.
func (d *Decoder) Decode() error { return d.explain(d.decode()) }

func (d *Decoder) decode() error {
	if d.Space == Unknown {
		return fmt.Errorf("a JPEG of %d components has no known colours", len(d.components))
	}
	if err := d.checkSampling(); err != nil {
		return err
	}
	several := d.severalScans()
	for i := range d.components {
		c := &d.components[i]
		c.samples = make([]byte, 64*c.stride*c.rows)
		if several {
			c.coefficients = make([]int16, 64*c.stride*c.rows)
		}
	}
	for {
		if err := d.decodeScan(); err != nil {
			return err
		}
		if d.scans++; d.scans > mostScans {
			return fmt.Errorf("the JPEG has more than %d scans", mostScans)
		}
		m := byte(0)
		for m != markerSOS && m != markerEOI {
			var err error
			if m, err = d.segment(); err != nil {
				return err
			}
		}
		if m == markerEOI {
			break
		}
		if !several {
			return errors.New("a second scan follows the one of all components")
		}
	}
	if several {
		d.transformAll()
	}
	return nil
}

// decodeScan reads the data of the current scan.
func (d *Decoder) decodeScan() error {
	for _, c := range d.scan.of {
		if c.quant == nil {
			if c.table > 3 || d.quant[c.table] == nil {
				return fmt.Errorf("component %d has the quantisation table %d, which the file lacks", c.id, c.table)
			}
			c.quant = d.quant[c.table]
		}
	}
	if d.progressive {
		return d.progressiveScan()
	}
	return d.sequentialScan()
}

// mcu is a walk over the MCUs of a scan.
type mcu struct {
	d          *Decoder
	bits       bits
	arithmetic *arithmetic // nil: the scan has Huffman codes
	left       int         // MCUs before the next restart marker
	restart    byte        // its number
	pred       [4]int32    // the last DC coefficient of each component in the scan
	eobRun     int         // progressive: blocks whose band ends before it begins
}

// walk calls block for all blocks of the scan, in the file's order, with the number of the component in the scan and the block's place in it.
// Blocks that damage has made unreadable are passed over by calling missing, if it is not nil.
func (d *Decoder) walk(block func(m *mcu, component, at int), missing func(component, at int)) {
	m := &mcu{d: d, bits: bits{file: d.file, pos: d.pos}, left: d.restart}
	if d.arithmetic {
		m.arithmetic = &arithmetic{bits: &m.bits}
		m.arithmetic.restart()
	}
	s := &d.scan
	for y := range s.down {
		for x := range s.across {
			if d.restart > 0 {
				if m.left == 0 {
					m.next()
				}
				m.left--
			}
			if m.bits.short && missing == nil {
				continue
			}
			readable := !m.bits.short
			m.each(x, y, func(component, at int) {
				switch {
				case readable && !(d.arithmetic && m.bits.short): // arithmetic codes may be found damaged in the middle of an MCU
					block(m, component, at)
				case missing != nil:
					missing(component, at)
				}
			})
			if m.bits.fake > 0 {
				m.bits.settle()
			}
		}
		if m.bits.short && missing == nil && d.restart == 0 {
			break
		}
	}
	if m.bits.over {
		d.warn(earlyEnd)
	}
	if m.bits.short {
		d.warn("image data is missing")
	}
	d.pos, d.last = m.bits.pos, m.bits.marker
}

// each calls f for the blocks of an MCU.
func (m *mcu) each(x, y int, f func(component, at int)) {
	s := &m.d.scan
	if len(s.of) == 1 {
		f(0, y*s.of[0].stride+x)
		return
	}
	for i, c := range s.of {
		for v := range c.v {
			row := (y*c.v+v)*c.stride + x*c.h
			for h := range c.h {
				f(i, row+h)
			}
		}
	}
}

// next passes a restart marker.
func (m *mcu) next() {
	if !m.bits.nextRestart(m.restart) {
		m.d.warn("a restart marker is missing")
	}
	if m.bits.short {
		m.d.warn("image data is missing")
	}
	m.restart = (m.restart + 1) & 7
	m.left, m.pred, m.eobRun = m.d.restart, [4]int32{}, 0
	if m.arithmetic != nil {
		m.bits.short = false
		m.arithmetic.restart()
	}
}

// sequentialScan reads a scan that has all coefficients of its blocks.
func (d *Decoder) sequentialScan() error {
	s := &d.scan
	if s.first != 0 || s.last != 63 || s.high != 0 || s.low != 0 {
		d.warn("a scan's header is not that of a sequential JPEG")
		s.first, s.last, s.high, s.low = 0, 63, 0, 0
	}
	var dc, ac [4]*huffman
	for i, c := range s.of {
		if d.arithmetic {
			break
		}
		var err error
		if dc[i], err = d.table(0, c.dc); err != nil {
			return err
		}
		if ac[i], err = d.table(1, c.ac); err != nil {
			return err
		}
	}
	var values [64]int16
	var missing func(component, at int)
	several := d.severalScans()
	if !several { // the samples of blocks without coefficients are those of a medium grey
		missing = func(component, at int) {
			c := s.of[component]
			fill8x8(c.block(at), 8*c.stride, 128)
		}
	}
	d.walk(func(m *mcu, component, at int) {
		c := s.of[component]
		to := &values
		if several {
			to = (*[64]int16)(c.coefficients[64*at:])
		}
		var last int
		if d.arithmetic {
			last = m.arithmeticBlock(to, component)
		} else {
			last = m.sequentialBlock(to, dc[component], ac[component], &m.pred[component])
		}
		if several {
			return
		}
		transform(&values, last, c.quant, c.block(at), 8*c.stride)
		if last == 0 {
			values[0] = 0
		} else {
			values = [64]int16{}
		}
	}, missing)
	return nil
}

// block returns the samples from the upper left one of a block on.
func (c *component) block(at int) []byte {
	return c.samples[at/c.stride*c.stride*64+at%c.stride*8:]
}

// sequentialBlock reads the coefficients of a block whose values are 0. It returns the place, in the file's order, of the last one that is not.
func (m *mcu) sequentialBlock(values *[64]int16, dc, ac *huffman, pred *int32) (last int) {
	b := &m.bits
	if n := dc.symbol(b); n > 0 {
		*pred += extend(b.take(n), n)
	}
	values[0] = int16(*pred)
	acc, n := b.acc, b.n
	for k := 1; k < 64; k++ {
		if n < 32 {
			b.acc, b.n = acc, n
			b.fill()
			acc, n = b.acc, b.n
		}
		if c := ac.coefficients[acc>>(64-fastBits)]; c.length > 0 {
			acc <<= c.length
			n -= int(c.length)
			k += int(c.run)
			values[natural[k]] = c.value
			last = k
			continue
		}
		var symbol int
		if e := ac.fast[acc>>(64-fastBits)]; e != 0 {
			acc <<= e >> 8
			n -= int(e >> 8)
			symbol = int(e & 255)
		} else {
			b.acc, b.n = acc, n
			symbol = ac.long(b)
			acc, n = b.acc, b.n
		}
		run, size := symbol>>4, symbol&15
		if size == 0 {
			if run < 15 {
				break
			}
			k += 15
			continue
		}
		if n < 16 {
			b.acc, b.n = acc, n
			b.fill()
			acc, n = b.acc, b.n
		}
		k += run
		values[natural[k]] = int16(extend(int32(acc>>uint(64-size)), size))
		acc <<= uint(size)
		n -= size
		last = k
	}
	b.acc, b.n = acc, n
	return last
}
