package imageio

import (
	"errors"
	"fmt"
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

// decodeFax reads rows into out, which is all white, 0. The method is tiffRuns, tiffFax3 or tiffFax4. kept has the runs of the last two rows for the next
// strip: a damaged row may refer to runs that lie behind those of the row above, where libtiff has what it had there before.
func decodeFax(kept *[2][]uint32, out, in []byte, width, method int, twoDimensions bool) error {
	runs := (width+31)&^31 + 3
	if twoDimensions || method == tiffFax4 {
		runs *= 2
	}
	if len(kept[0]) != runs {
		kept[0], kept[1] = make([]uint32, runs), make([]uint32, runs)
	}
	f := &fax{in: in, width: width, now: kept[0], above: kept[1]}
	defer func() { kept[0], kept[1] = f.now, f.above }()
	f.above[0], f.above[1] = uint32(width), 0
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
