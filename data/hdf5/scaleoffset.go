package hdf5

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// bitReader takes numbers of some bits from bytes, the highest bits first.
type bitReader struct {
	b    []byte
	at   int // next bit
	lost bool
}

// take returns the next n bits, at most 64.
func (r *bitReader) take(n int) (v uint64) {
	if r.at+n > 8*len(r.b) {
		r.lost = true
		return 0
	}
	for n > 0 {
		have := 8 - r.at%8
		use := min(n, have)
		v = v<<use | uint64(r.b[r.at/8])>>(have-use)&(1<<use-1)
		r.at += use
		n -= use
	}
	return v
}

// put writes the low bytes of v in the byte order of a type.
func (t *datatype) put(b []byte, v uint64) {
	for i := range b {
		at := i
		if t.big {
			at = len(b) - 1 - i
		}
		b[at] = byte(v >> (8 * i))
	}
}

// scaleOffset is libhdf5's filter of that name. A chunk holds its smallest value and what every value is above it, in as few bits as the largest needs;
// all bits set mean the fill value, if there is one. Floats are rounded to some decimals (D-scale): what is stored is the difference times 10^decimals.
type scaleOffset struct {
	kind     datatype
	decimals int
	float    bool
	hasFill  bool
	fill     uint64
	bits     int
	least    uint64
}

// Indices of the filter's values, and the length of a chunk's head.
const (
	soScale, soDecimals, soCount, soClass, soSize, soOrder, soHasFill, soFill = 0, 1, 2, 3, 4, 6, 7, 8

	soHead = 21
)

func undoScaleOffset(_ *storedSet, f *filter, b []byte, most int) ([]byte, error) {
	v := append(append([]uint64(nil), f.values...), make([]uint64, 2*soFill)...)
	s := &scaleOffset{
		kind: datatype{size: asInt(v[soSize]), big: v[soOrder] == 1}, decimals: int(int32(v[soDecimals])), float: v[soClass] == 1,
		hasFill: v[soHasFill] == 1, fill: v[soFill] | v[soFill+1]<<32,
	}
	n, size := asInt(v[soCount]), s.kind.size
	switch {
	case len(f.values) <= soHasFill || size < 1 || size > 8 || s.float && size != 4 && size != 8 || n > most/size:
		return nil, damaged("scaleoffset of %d values of %d bytes", n, size)
	case s.float && v[soScale] != 0:
		return nil, damaged("scaleoffset of floats with scale type %d", v[soScale])
	case len(b) < soHead:
		return nil, damaged("a chunk of %d bytes stored with scaleoffset", len(b))
	}
	s.bits, s.least = int(min(binary.LittleEndian.Uint32(b), 65)), binary.LittleEndian.Uint64(b[5:])
	if s.bits > 8*size {
		return nil, damaged("a chunk stored with scaleoffset of %d bits in values of %d bytes", s.bits, size)
	}
	out := make([]byte, n*size)
	r := &bitReader{b: b[soHead:]}
	for i := range n {
		v := r.take(s.bits)
		if s.bits == 8*size { // values as they were in the writer's memory, in little-endian order
			v = bits.ReverseBytes64(v) >> (64 - 8*size)
		} else {
			v = s.value(v)
		}
		s.kind.put(out[i*size:(i+1)*size], v)
	}
	if r.lost {
		return nil, damaged("a chunk of %d bytes stored with scaleoffset for %d values of %d bits", len(b), n, s.bits)
	}
	return out, nil
}

// value returns the bits of the value of which stored is kept.
func (s *scaleOffset) value(stored uint64) uint64 {
	switch {
	case s.hasFill && stored == 1<<s.bits-1:
		return s.fill
	case !s.float:
		return s.least + stored
	case s.kind.size == 4:
		scale := float32(math.Pow(10, float64(s.decimals)))
		return uint64(math.Float32bits(float32(float32(int32(stored))/scale) + math.Float32frombits(uint32(s.least))))
	}
	return math.Float64bits(float64(int64(stored))/math.Pow(10, float64(s.decimals)) + math.Float64frombits(s.least))
}
