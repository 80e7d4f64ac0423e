package imageio

import (
	"errors"
	"fmt"
	"strings"
)

// fax reads rows of runs of white and black pixels: ITU T.4 (group 3, in one or two dimensions, and CCITT's runs, which are rows of group 3
// without codes between them) and T.6 (group 4). Damage changes pixels as in libtiff: a row with a bad code is filled up with the next colour, and in
// group 3 reading goes on behind the next code of a row's end.
type fax struct {
	in    []byte
	acc   uint32 // bits that have been taken from in; the next one is bit n-1
	n     int
	width int
	atEnd bool // the code of a row's end has been read up to its last zero

	now, above []uint32 // lengths of runs, white and black in turns
	count      int      // runs of now
	at         int32    // the pixel behind the last run
	pending    int32    // pixels of the colour of the next run that are known
	next       int32    // the change of colour in the row above that the next code refers to
	nextRun    int      // the run of above that follows next
}

var (
	errFaxEnd  = errors.New("the fax ends early")
	errFaxRuns = errors.New("the fax has a row of too many runs")
)

// decodeFax reads rows into out, which is all white, 0. The method is tiffRuns, tiffFax3 or tiffFax4.
func decodeFax(out, in []byte, width, method int, twoDimensions bool) error {
	runs := (width+31)&^31 + 3
	if twoDimensions || method == tiffFax4 {
		runs *= 2
	}
	f := &fax{in: in, width: width, now: make([]uint32, runs), above: make([]uint32, runs)}
	f.above[0] = uint32(width)
	size := (width + 7) / 8
	for row := 0; len(out) >= size && size > 0; row, out = row+1, out[size:] {
		f.count, f.at, f.pending = 0, 0, 0
		flat := method != tiffFax4
		var err error
		if method == tiffFax3 {
			err = f.rowEnd()
			if err == nil && twoDimensions {
				var tag uint32
				tag, err = f.bits(1)
				flat = tag == 1
			}
		}
		if err == nil {
			f.next, f.nextRun = int32(f.above[0]), 1
			if flat {
				err = f.oneRow()
			} else {
				err = f.twoRows()
			}
		}
		switch {
		case errors.Is(err, errFaxRuns):
			return err
		case err == nil || errors.Is(err, errBadFax):
			err = f.finish()
		default:
			err = errors.Join(err, f.finish())
		}
		if method == tiffFax4 && f.atEnd { // the end of the image
			f.fill(out)
			return nil
		}
		f.fill(out)
		if err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		if twoDimensions || method == tiffFax4 {
			if f.count < len(f.now) {
				f.now[f.count] = 0
			}
			f.now, f.above = f.above, f.now
		}
		if method == tiffRuns {
			f.n &^= 7
		}
	}
	return nil
}

// errBadFax is a code that does not exist. The row is filled up, and reading goes on.
var errBadFax = errors.New("a bad code")

// fetch makes at least n bits available, with zeros behind the end. It fails if there are none.
func (f *fax) fetch(n int) error {
	for f.n < n {
		if len(f.in) == 0 {
			if f.n == 0 {
				return errFaxEnd
			}
			f.acc <<= n - f.n
			f.n = n
			return nil
		}
		f.acc, f.in, f.n = f.acc<<8|uint32(f.in[0]), f.in[1:], f.n+8
	}
	return nil
}

// peek returns the next n available bits.
func (f *fax) peek(n int) uint32 { return f.acc >> (f.n - n) & (1<<n - 1) }

// bits reads n bits.
func (f *fax) bits(n int) (uint32, error) {
	err := f.fetch(n)
	if err != nil {
		return 0, err
	}
	v := f.peek(n)
	f.n -= n
	return v, nil
}

// code reads a code of a table of codes of up to n bits. Its length is 0 if it does not exist.
func (f *fax) code(table []faxCode, n int) (faxCode, error) {
	if err := f.fetch(n); err != nil {
		return faxCode{}, err
	}
	c := table[f.peek(n)]
	f.n -= int(c.length)
	return c, nil
}

// rowEnd reads up to and with the next code of a row's end: 11 zeros or more, and a one.
func (f *fax) rowEnd() error {
	const zeros = 11
	for !f.atEnd {
		if err := f.fetch(zeros); err != nil {
			return err
		}
		if f.peek(zeros) == 0 {
			break
		}
		f.n--
	}
	for {
		if err := f.fetch(8); err != nil {
			return err
		}
		if f.peek(8) != 0 {
			break
		}
		f.n -= 8
	}
	for f.peek(1) == 0 {
		f.n--
	}
	f.n--
	f.atEnd = false
	return nil
}

// run ends a run with some more pixels.
func (f *fax) run(more int32) error {
	if f.count == len(f.now) {
		return errFaxRuns
	}
	f.now[f.count] = uint32(f.pending + more)
	f.count, f.at, f.pending = f.count+1, f.at+more, 0
	return nil
}

// coloured reads the codes of a run of white or black pixels.
func (f *fax) coloured(black bool) error {
	table, n := faxWhite[:], faxWhiteBits
	if black {
		table, n = faxBlack[:], faxBlackBits
	}
	for {
		c, err := f.code(table, n)
		switch {
		case err != nil:
			return err
		case c.kind == faxRun:
			return f.run(int32(c.value))
		case c.kind == faxMore:
			f.at, f.pending = f.at+int32(c.value), f.pending+int32(c.value)
		case c.kind == faxEnd:
			f.atEnd = true
			return errBadFax
		default:
			return errBadFax
		}
	}
}

// oneRow reads a row that refers to no other.
func (f *fax) oneRow() error {
	for {
		for _, black := range []bool{false, true} {
			if err := f.coloured(black); err != nil {
				return err
			}
			if f.at >= int32(f.width) {
				return nil
			}
		}
		if n := f.count; f.now[n-1] == 0 && f.now[n-2] == 0 {
			f.count -= 2
		}
	}
}

// change moves on to the first change of the row above that is right of the current pixel and of the colour of its run's end.
func (f *fax) change() error {
	for f.count > 0 && f.next <= f.at && f.next < int32(f.width) {
		if f.nextRun+1 >= len(f.above) {
			return errFaxRuns
		}
		f.next += int32(f.above[f.nextRun] + f.above[f.nextRun+1])
		f.nextRun += 2
	}
	return nil
}

// forth moves on to the next change of the row above.
func (f *fax) forth() error {
	if f.nextRun >= len(f.above) {
		return errFaxRuns
	}
	f.next, f.nextRun = f.next+int32(f.above[f.nextRun]), f.nextRun+1
	return nil
}

// twoRows reads a row whose codes refer to the changes of colour in the row above.
func (f *fax) twoRows() error {
	width := int32(f.width)
	for f.at < width {
		if f.count == len(f.now) {
			return errFaxRuns
		}
		c, err := f.code(faxModes[:], faxModeBits)
		if err != nil {
			return err
		}
		switch c.kind {
		case faxPass, faxVertical:
			err = f.refer(c)
		case faxHorizontal:
			black := f.count%2 == 1
			if err = f.coloured(black); err == nil {
				err = f.coloured(!black)
			}
			f.atEnd = false // here such a code is a bad one
			if err == nil {
				err = f.change()
			}
		default: // an end, or an extension
			f.now[f.count] = uint32(width - f.at)
			f.count++
			if c.kind == faxEnd {
				if err := f.fetch(4); err != nil {
					return err
				}
				f.n -= 4
				f.atEnd = true
			}
			err = errBadFax
		}
		if err != nil {
			return err
		}
	}
	if f.pending == 0 {
		return nil
	}
	if f.pending+f.at < width {
		if v, err := f.bits(1); err != nil || v == 0 {
			return errors.Join(err, errBadFax)
		}
	}
	return f.run(0)
}

// refer takes a change of colour from the row above, moved by -3 to 3 pixels, or passes one over.
func (f *fax) refer(c faxCode) error {
	if err := f.change(); err != nil {
		return err
	}
	if c.kind == faxPass {
		if err := f.forth(); err != nil {
			return err
		}
		f.at, f.pending = f.next, f.pending+f.next-f.at
		return f.forth()
	}
	by := int32(c.value)
	if by < 0 && f.next < f.at-by {
		return errBadFax
	}
	if err := f.run(f.next - f.at + by); err != nil {
		return err
	}
	if by >= 0 {
		return f.forth()
	}
	f.nextRun--
	f.next -= int32(f.above[f.nextRun])
	return nil
}

// finish makes the runs of a row as long as the row.
func (f *fax) finish() error {
	if f.pending != 0 {
		if err := f.run(0); err != nil {
			return err
		}
	}
	width := int32(f.width)
	if f.at == width {
		return nil
	}
	for f.at > width && f.count > 0 {
		f.count--
		f.at -= int32(f.now[f.count])
	}
	if f.at > width {
		return errors.Join(f.run(width), f.run(0))
	}
	if f.at == width {
		return nil
	}
	f.at = max(f.at, 0)
	if f.count%2 == 1 {
		if err := f.run(0); err != nil {
			return err
		}
	}
	return f.run(width - f.at)
}

// fill writes the black runs of a row as ones. Runs beyond the row are cut.
func (f *fax) fill(out []byte) {
	x := uint32(0)
	for i := range f.count {
		run := &f.now[i]
		if *run > uint32(f.width)-x {
			*run = uint32(f.width) - x
		}
		if i%2 == 1 {
			for k := x; k < x+*run; k++ {
				out[k/8] |= 0x80 >> (k % 8)
			}
		}
		x += *run
	}
}

// faxCode is what a code means.
type faxCode struct {
	kind   byte
	length byte
	value  int16
}

// Kinds of codes; 0 is none.
const (
	faxRun        = 1 + iota // a run of some pixels ends
	faxMore                  // it has some more
	faxEnd                   // of a row or of the image
	faxPass                  // a change in the row above does not count
	faxHorizontal            // two runs follow
	faxVertical              // a change is near one of the row above
	faxExtension             // rows are stored in another way, which libtiff does not read either
)

const faxWhiteBits, faxBlackBits, faxModeBits = 12, 13, 7

var (
	faxWhite [1 << faxWhiteBits]faxCode
	faxBlack [1 << faxBlackBits]faxCode
	faxModes [1 << faxModeBits]faxCode
)

// Codes of T.4: of runs of 0 to 63 pixels, of 64, 128 and so on up to 1728, and of 1792 and so on, which both colours share.
const (
	faxWhiteRuns = "00110101 000111 0111 1000 1011 1100 1110 1111 10011 10100 00111 01000 001000 000011 110100 110101 101010 101011 0100111 0001100 0001000 0010111 " +
		"0000011 0000100 0101000 0101011 0010011 0100100 0011000 00000010 00000011 00011010 00011011 00010010 00010011 00010100 00010101 00010110 00010111 00101000 " +
		"00101001 00101010 00101011 00101100 00101101 00000100 00000101 00001010 00001011 01010010 01010011 01010100 01010101 00100100 00100101 01011000 01011001 " +
		"01011010 01011011 01001010 01001011 00110010 00110011 00110100"
	faxWhiteMore = "11011 10010 010111 0110111 00110110 00110111 01100100 01100101 01101000 01100111 011001100 011001101 011010010 011010011 011010100 011010101 011010110 " +
		"011010111 011011000 011011001 011011010 011011011 010011000 010011001 010011010 011000 010011011"
	faxBlackRuns = "0000110111 010 11 10 011 0011 0010 00011 000101 000100 0000100 0000101 0000111 00000100 00000111 000011000 0000010111 0000011000 0000001000 00001100111 " +
		"00001101000 00001101100 00000110111 00000101000 00000010111 00000011000 000011001010 000011001011 000011001100 000011001101 000001101000 000001101001 " +
		"000001101010 000001101011 000011010010 000011010011 000011010100 000011010101 000011010110 000011010111 000001101100 000001101101 000011011010 000011011011 " +
		"000001010100 000001010101 000001010110 000001010111 000001100100 000001100101 000001010010 000001010011 000000100100 000000110111 000000111000 000000100111 " +
		"000000101000 000001011000 000001011001 000000101011 000000101100 000001011010 000001100110 000001100111"
	faxBlackMore = "0000001111 000011001000 000011001001 000001011011 000000110011 000000110100 000000110101 0000001101100 0000001101101 0000001001010 0000001001011 " +
		"0000001001100 0000001001101 0000001110010 0000001110011 0000001110100 0000001110101 0000001110110 0000001110111 0000001010010 0000001010011 0000001010100 " +
		"0000001010101 0000001011010 0000001011011 0000001100100 0000001100101"
	faxBothMore = "00000001000 00000001100 00000001101 000000010010 000000010011 000000010100 000000010101 000000010110 000000010111 000000011100 000000011101 000000011110 " +
		"000000011111"
)

func init() {
	enter := func(table []faxCode, bits int, codes string, kind byte, first, step int) {
		for i, code := range strings.Fields(codes) {
			v := 0
			for _, c := range code {
				v = v<<1 | int(c-'0')
			}
			spare := bits - len(code)
			for k := range 1 << spare {
				at := &table[v<<spare|k]
				if at.kind != 0 {
					panic("imageio: two fax codes begin alike")
				}
				*at = faxCode{kind, byte(len(code)), int16(first + i*step)}
			}
		}
	}
	for _, t := range []struct {
		table      []faxCode
		bits       int
		runs, more string
	}{{faxWhite[:], faxWhiteBits, faxWhiteRuns, faxWhiteMore}, {faxBlack[:], faxBlackBits, faxBlackRuns, faxBlackMore}} {
		enter(t.table, t.bits, t.runs, faxRun, 0, 1)
		enter(t.table, t.bits, t.more, faxMore, 64, 64)
		enter(t.table, t.bits, faxBothMore, faxMore, 1792, 64)
		enter(t.table, t.bits, "00000000000", faxEnd, 0, 0)
	}
	modes := faxModes[:]
	enter(modes, faxModeBits, "0000000", faxEnd, 0, 0)
	enter(modes, faxModeBits, "0000001", faxExtension, 0, 0)
	enter(modes, faxModeBits, "0001", faxPass, 0, 0)
	enter(modes, faxModeBits, "001", faxHorizontal, 0, 0)
	enter(modes, faxModeBits, "1 011 000011 0000011", faxVertical, 0, 1)
	enter(modes, faxModeBits, "010 000010 0000010", faxVertical, -1, -1)
}
