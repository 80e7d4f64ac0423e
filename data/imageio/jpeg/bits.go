package jpeg

import "encoding/binary"

// bits reads the Huffman-coded data of a scan. Behind a marker, or the end of the file, it delivers zeros, as libjpeg does.
type bits struct {
	file []byte
	pos  int
	acc  uint64 // the next bits, the first one at the top; those behind n are 0, or what will come there
	n    int    // the number of bits in acc
	fake int    // how many of these, at the end, are zeros that were delivered behind the data

	marker  byte // the marker that ends the data; 0: none has come yet
	over    bool // it is the end of the file that ends it
	damaged bool // there was a code that the table lacks, or that cannot be there
	short   bool // the data ended too early since the last restart marker
}

// fill puts at least 57 bits into acc.
func (b *bits) fill() {
	if b.pos+8 <= len(b.file) && b.marker == 0 {
		word := binary.BigEndian.Uint64(b.file[b.pos:])
		if plain(word) {
			b.acc |= word >> uint(b.n)
			b.pos += (63 - b.n) >> 3
			b.n |= 56
			return
		}
	}
	b.fillSlowly()
}

// plain reports whether no byte of a word is ff: that is where its complement is 0.
func plain(word uint64) bool { return (^word-0x0101010101010101)&word&0x8080808080808080 == 0 }

// fillSlowly is fill where there may be markers.
func (b *bits) fillSlowly() {
	for b.n <= 56 {
		v, ok := b.next()
		if !ok {
			b.fake += 64 - b.n
			b.n = 64
			return
		}
		b.acc |= uint64(v) << uint(56-b.n)
		b.n += 8
	}
}

// next returns the next byte of data. It reports false at a marker, which it keeps.
func (b *bits) next() (v byte, ok bool) {
	if b.marker != 0 {
		return 0, false
	}
	for ff := false; b.pos < len(b.file); {
		v = b.file[b.pos]
		b.pos++
		switch {
		case v == 0xff:
			ff = true
		case !ff:
			return v, true
		case v == 0:
			return 0xff, true
		default:
			b.marker = v
			return 0, false
		}
	}
	b.marker, b.over = markerEOI, true
	return 0, false
}

// settle notes whether bits were used that the data does not have.
func (b *bits) settle() {
	if b.fake > b.n {
		b.short, b.fake = true, b.n
	}
}

// take returns the next n bits, up to 16.
func (b *bits) take(n int) int32 {
	if b.n < 16 {
		b.fill()
	}
	v := int32(b.acc >> 32 >> uint(32-n)) // by 32 first, since n can be 0
	b.acc <<= uint(n)
	b.n -= n
	return v
}

// drop passes n bits, which acc has.
func (b *bits) drop(n int) {
	b.acc <<= uint(n)
	b.n -= n
}

// discard drops what is left of the current segment.
func (b *bits) discard() { b.acc, b.n, b.fake = 0, 0, 0 }

// nextRestart passes the restart marker with a number from 0 to 7, or stays before another marker, from which it deduces by the rules of
// libjpeg whether data was lost: then the blocks up to the next restart marker are missing. It reports whether the marker was there.
func (b *bits) nextRestart(number byte) bool {
	b.discard()
	if b.marker == 0 {
		b.seek()
	}
	whole := b.marker == markerRST0+number
	if !b.resynchronise(number) {
		return false
	}
	b.marker, b.short = 0, false
	return whole
}

// resynchronise finds out which segment begins at the current marker. It reports whether that is the one to be decoded next.
func (b *bits) resynchronise(number byte) bool {
	for {
		switch m := b.marker; {
		case m < markerSOF0: // no marker of a JPEG
			b.seek()
		case m < markerRST0 || m > markerRST7:
			return false
		default:
			switch ahead := (m - markerRST0 - number) & 7; ahead {
			case 1, 2: // a segment is missing, and this one comes later
				return false
			case 6, 7: // an earlier one
				b.seek()
			default:
				return true
			}
		}
	}
}

// seek goes to the next marker, whatever lies before it.
func (b *bits) seek() {
	b.marker = 0
	for {
		if _, ok := b.next(); !ok {
			return
		}
	}
}
