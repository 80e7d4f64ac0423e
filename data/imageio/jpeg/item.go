package jpeg

import (
	"bytes"
	"slices"
)

// repeats is the warning of an item of a database whose end is missing.
const repeats = "the last row that is there is repeated"

// OpenItem is Open for a file in memory, such as an item of a database. OpenCV hands it to libjpeg as a source in which libjpeg waits at the end for
// more, so that a file that ends early has other pixels than on disk, or none:
//
//   - The headers must be there, and all of a file that has several scans or arithmetic codes.
//   - Of one scan of Huffman codes, those rows of MCUs are there that libjpeg decodes without a need for more bytes. The rows of pixels for which more would be
//     needed are like the last one before them. If there is none, they are 0; Caffe's are then what its memory held.
func OpenItem(file []byte) (*Decoder, error) {
	d, err := Open(file)
	if err != nil {
		return nil, err
	}
	if d.endsEarly() {
		return nil, errEnd
	}
	d.item = true
	return d, nil
}

func (d *Decoder) endsEarly() bool { return slices.Contains(d.Warnings, earlyEnd) }

// countRows finds the groups of maxV rows of pixels that an item's only scan has, where that is of Huffman codes. libjpeg decodes as many rows of MCUs at a time as
// give eight groups. At a marker that ends the scan it does not wait. It cannot wait in arithmetic codes: they must be there.
func (d *Decoder) countRows() error {
	if bytes.Contains(d.file[d.pos:], []byte{0xff, markerEOI}) {
		return nil
	}
	if d.arithmetic {
		return wholeCodes(d.file)
	}
	w := &waiting{mcu: *d.mcu}
	rows := w.rows()
	if rows == d.scan.down {
		return nil
	}
	if len(d.components) == 1 {
		rows /= d.maxV
	}
	d.groups = 8 * rows
	d.warn(earlyEnd)
	d.warn(repeats)
	return nil
}

// wholeCodes decodes a file of one scan, and returns an error if its codes go on behind its end.
func wholeCodes(file []byte) error {
	d, err := Open(file)
	if err == nil {
		err = d.Decode()
	}
	if err != nil {
		return err
	}
	d.Rows().End() // what follows the scan does not matter
	if d.mcu.bits.over {
		return errEnd
	}
	return nil
}

// there returns the row of the image that is to be shown as row y, -1 if there is none. Where rows are interpolated, the last group needs the next one.
func (r *Rows) there(y int, shown []*upsampler) int {
	groups := r.d.groups
	if !r.d.item || groups < 0 {
		return y
	}
	if groups > 0 && slices.ContainsFunc(shown, (*upsampler).mixesRows) {
		groups--
	}
	return min(y, groups*r.d.maxV-1)
}
