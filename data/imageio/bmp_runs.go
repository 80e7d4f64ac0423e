package imageio

import "errors"

var errLongRun = errors.New("the BMP image has a run that leaves its row")

// bmpRuns is a place in an image of runs while it is read.
type bmpRuns struct {
	b       *bmpFile
	in      []byte
	indices []byte
	x, y    int
	wrapped bool // the last run has ended its row
}

// runs reads an image of runs of 4 or 8 bits with OpenCV's rules: what is skipped has the first colour, and the rows must all be there. The row
// after the end of a run is the next one only where runs have 8 bits; the marker of a row's end is then passed over. Images of 4 bits are read on after
// the marker of the image's end, and jumps in them go to the right only.
func (b *bmpFile) runs() ([]byte, error) {
	r := &bmpRuns{b: b, in: b.pixels, indices: make([]byte, b.width*b.height)}
	for r.y < b.height {
		if len(r.in) < 2 {
			return nil, errCutBMP
		}
		count, code := int(r.in[0]), r.in[1]
		r.in = r.in[2:]
		var err error
		switch {
		case count > 0:
			err = r.run(count, code)
		case code > 2:
			err = r.literal(int(code))
		default:
			err = r.escape(code)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.indices, nil
}

// row is the rest of the current row.
func (r *bmpRuns) row() []byte { return r.indices[r.y*r.b.width:][r.x:r.b.width] }

// fill writes count times an index and goes to the next row where one ends.
func (r *bmpRuns) fill(count int, index byte) {
	for {
		row := r.row()
		row = row[:min(count, len(row))]
		for i := range row {
			row[i] = index
		}
		count, r.x = count-len(row), r.x+len(row)
		if r.x == r.b.width {
			if r.x, r.y = 0, r.y+1; r.y == r.b.height {
				return
			}
		}
		if count == 0 {
			return
		}
	}
}

// run repeats an index of 8 bits, or two of 4 bits in turns.
func (r *bmpRuns) run(count int, code byte) error {
	row := r.row()
	if count > len(row) {
		return errLongRun
	}
	if r.b.bits == 8 {
		before := r.y
		r.fill(count, code)
		r.wrapped = r.y > before
		return nil
	}
	for i := range count {
		row[i] = code >> 4
		if i%2 == 1 {
			row[i] = code & 15
		}
	}
	r.x += count
	return nil
}

// literal reads count indices, which end at a multiple of two bytes.
func (r *bmpRuns) literal(count int) error {
	row := r.row()
	size := (count*r.b.bits + 7) / 8
	size += size % 2
	switch {
	case count > len(row):
		return errLongRun
	case len(r.in) < size:
		return errCutBMP
	}
	for i := range count {
		row[i] = unpack(r.in, i, r.b.bits)
	}
	r.in, r.x, r.wrapped = r.in[size:], r.x+count, false
	return nil
}

// escape reads the end of a row (0) or of the image (1), or a jump (2).
func (r *bmpRuns) escape(code byte) error {
	if r.b.bits == 8 && code == 0 && r.wrapped && r.x == 0 {
		r.wrapped = false
		return nil
	}
	count, down := r.b.width-r.x, r.b.height-r.y
	if code == 2 {
		if len(r.in) < 2 {
			return errCutBMP
		}
		count, down = int(r.in[0]), int(r.in[1])
		r.in = r.in[2:]
	}
	if r.b.bits == 8 && code != 0 {
		count += down * r.b.width
	}
	r.fill(count, 0)
	r.wrapped = false
	return nil
}
