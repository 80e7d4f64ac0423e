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
		c := d.find(int(body[1+2*i]), i)
		if c == nil {
			return fmt.Errorf("a scan has the component %d, which the frame lacks or has before", body[1+2*i])
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

// find returns the component with a number, the i-th of a scan. It comes before the i-th of the frame only in files that libjpeg-turbo refuses.
func (d *Decoder) find(id, i int) *component {
	for ; i < len(d.components); i++ {
		if d.components[i].id == id {
			return &d.components[i]
		}
	}
	return nil
}

// Decode reads all scans of a file whose blocks several scans share. If one scan has all blocks, it is read while Rows makes the pixels. Damage
// inside a scan leads to a warning. Damage between scans is an error, here or of Rows.End.
func (d *Decoder) Decode() error {
	err := d.decode()
	if err == nil && d.item && d.several && d.endsEarly() {
		err = errEnd
	}
	return d.explain(err)
}

func (d *Decoder) decode() error {
	if d.Space == Unknown {
		return fmt.Errorf("a JPEG of %d components has no known colours", len(d.components))
	}
	if err := d.checkSampling(); err != nil {
		return err
	}
	d.buffers = spare.Get().(*buffers)
	d.several, d.groups = d.severalScans(), -1
	if !d.several {
		err := d.beginScan()
		if err == nil && d.item {
			err = d.countRows()
		}
		return err
	}
	for i := range d.components {
		c := &d.components[i]
		c.coefficients = sized(&d.buffers.coefficients[i], 64*c.stride*c.rows)
		clear(c.coefficients)
		if d.progressive && !d.arithmetic {
			c.nonzero = sized(&d.buffers.nonzero[i], c.stride*c.rows)
			clear(c.nonzero)
		}
	}
	for {
		if err := d.beginScan(); err != nil {
			return err
		}
		for range d.scan.down {
			if d.mcu.row(); d.mcu.spent() {
				break
			}
		}
		d.endScan()
		if more, err := d.nextScan(); !more {
			return err
		}
	}
}

// beginScan prepares for the rows of MCUs of a scan.
func (d *Decoder) beginScan() error {
	if err := d.countBlocks(); err != nil {
		return err
	}
	for _, c := range d.scan.of {
		if c.quant == nil {
			if c.table > 3 || d.quant[c.table] == nil {
				return fmt.Errorf("component %d has the quantisation table %d, which the file lacks", c.id, c.table)
			}
			c.quant = d.quant[c.table]
		}
	}
	d.mcu = &mcu{d: d, bits: bits{file: d.file, pos: d.pos}, left: d.restart}
	if d.arithmetic {
		d.mcu.arithmetic = &arithmetic{bits: &d.mcu.bits}
		d.mcu.arithmetic.restart()
	}
	if d.progressive {
		return d.mcu.beginProgressive()
	}
	return d.mcu.beginSequential()
}

// A small file can have a large image, and many scans of it that change little. A picture of 32 million pixels has 750,000 blocks with its colours, and
// ten scans, each of which passes over some of them. Arithmetic codes cost time for each coefficient.
const (
	mostVisits      = 8 << 20 // blocks of all scans
	byteVisits      = 8       // more of them for each byte of the file
	visitArithmetic = 4       // coefficients in arithmetic coding that count as a block
)

// MostPasses is the number of blocks that the scans of a file of so many bytes may pass over.
func MostPasses(size int) int { return mostVisits + byteVisits*size }

// Passes is the number of blocks that scans have passed over until now.
func (d *Decoder) Passes() int { return d.visits }

// countBlocks limits the blocks of all scans.
func (d *Decoder) countBlocks() error {
	s := &d.scan
	blocks := 0
	for _, c := range s.of {
		if len(s.of) == 1 {
			blocks += c.across * c.down
		} else {
			blocks += c.stride * c.rows
		}
	}
	if s.first > 0 && s.high > 0 { // such a scan looks at all coefficients
		blocks *= 2
	}
	if d.arithmetic {
		blocks *= 1 + max(0, s.last-s.first)/visitArithmetic
	}
	d.scans++
	if d.visits += blocks; d.visits > MostPasses(len(d.file)) && (d.several || d.arithmetic) {
		return fmt.Errorf("%w: its first %d scans pass over the equivalent of %d blocks", ErrDense, d.scans, d.visits)
	}
	return nil
}

// endScan notes how a scan ended.
func (d *Decoder) endScan() {
	b := &d.mcu.bits
	if b.damaged {
		d.warn(badCode)
	}
	if b.over {
		d.warn(earlyEnd)
	}
	if b.short {
		d.warn("image data is missing")
	}
	d.pos, d.last = b.pos, b.marker
}

// nextScan reads the segments up to the next scan, and reports whether there is one.
func (d *Decoder) nextScan() (bool, error) {
	for {
		switch m, err := d.segment(); {
		case err != nil || m == markerEOI:
			return false, err
		case m == markerSOS && !d.several:
			return false, errors.New("a second scan follows the one of all components")
		case m == markerSOS:
			return true, nil
		}
	}
}
