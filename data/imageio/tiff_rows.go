package imageio

import (
	"cmp"
	"slices"
	"strings"
)

// tiffRows makes the rows of a TIFF from its blocks, of which it holds those of one band: a strip, or a row of tiles.
type tiffRows struct {
	*tiffFile
	convert  conversion
	channels int
	flipped  bool // the last band comes first
	mirrored bool
	band     []tiffBlock
	next     int    // the number of bands that have been read
	rgba     []byte // of a row of a block
	err      error  // why there are no more bands
}

// conversion writes row y of a block as red, green, blue and alpha of 8 bits.
type conversion func(b *tiffBlock, y int, rgba []byte)

// rows returns the rows of the image, by channels: 1 (grey), 3 (B, G, R) or 4 (and alpha).
func (t *tiffFile) rows(convert conversion, channels int) rows {
	r := &tiffRows{
		tiffFile: t, convert: convert, channels: channels, band: make([]tiffBlock, t.across()), rgba: make([]byte, 4*t.blockWidth),
		flipped: slices.Contains([]int{3, 4, 7, 8}, t.orientation), mirrored: slices.Contains([]int{2, 3, 6, 7}, t.orientation),
	}
	return rows{height: t.height, width: t.width, channels: channels, orientation: t.transposed(), write: r.row, end: r.end}
}

// transposed is the orientation that is left when blocks have been mirrored.
func (t *tiffFile) transposed() int {
	switch t.orientation {
	case 5, 7:
		return 5
	case 6, 8:
		return 7
	}
	return 1
}

// row writes row y. libtiff has mirrored each block by the image's orientation; OpenCV counts blocks from the lowest where the image
// begins there, but never from the right, so that in mirrored images of tiles each tile alone is mirrored.
func (r *tiffRows) row(y int, out []byte) {
	if r.flipped {
		y = r.height - 1 - y
	}
	r.read(r.turn(y / r.blockHeight))
	if r.err != nil {
		return
	}
	for i := range r.band {
		b := &r.band[i]
		r.convert(b, y-b.y, r.rgba)
		r.place(out[b.x*r.channels:][:b.used*r.channels])
	}
}

// place writes the pixels of a row of a block.
func (r *tiffRows) place(out []byte) {
	from, step := 0, 4
	if r.mirrored {
		from, step = 4*(len(out)/r.channels-1), -4
	}
	switch r.channels {
	case 1:
		w := readerWeights
		for x := range out {
			p := r.rgba[from:][:4]
			out[x] = byte((w.b*int32(p[2]) + w.g*int32(p[1]) + w.r*int32(p[0]) + w.round) >> w.shift)
			from += step
		}
	case 3:
		for x := 0; x < len(out); x, from = x+3, from+step {
			p, q := r.rgba[from:][:4], out[x:][:3]
			q[0], q[1], q[2] = p[2], p[1], p[0]
		}
	case 4:
		for x := 0; x < len(out); x, from = x+4, from+step {
			p, q := r.rgba[from:][:4], out[x:][:4]
			q[0], q[1], q[2], q[3] = p[2], p[1], p[0], p[3]
		}
	}
}

// turn is the place of a band in the order of reading, or the band at a place.
func (r *tiffRows) turn(band int) int {
	if r.flipped {
		return r.down() - 1 - band
	}
	return band
}

// read reads the bands up to a place in that order, the last of which it keeps.
func (r *tiffRows) read(last int) {
	for ; r.next <= last && r.err == nil; r.next++ {
		for i := range r.band {
			if r.err = r.decode(&r.band[i], r.turn(r.next)*len(r.band)+i); r.err != nil {
				return
			}
		}
	}
}

// end reads the bands that no row needed.
func (r *tiffRows) end() (repaired string, err error) {
	r.read(r.down() - 1)
	return r.repaired(), r.err
}

// damage is damage of a block that was passed over.
type damage struct {
	block int
	err   error
}

// mostDamage is the number of damages that are named.
const mostDamage = 3

// damaged notes damage of a block that is passed over.
func (t *tiffFile) damaged(block int, err error) { t.damage = append(t.damage, damage{block, err}) }

// repaired names the first damages.
func (t *tiffFile) repaired() string {
	slices.SortStableFunc(t.damage, func(a, b damage) int { return cmp.Compare(a.block, b.block) })
	var names []string
	for _, d := range t.damage[:min(len(t.damage), mostDamage)] {
		names = append(names, d.err.Error())
	}
	return strings.Join(names, "; ")
}
