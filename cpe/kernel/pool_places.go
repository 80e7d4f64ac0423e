package kernel

import (
	"math"
	"unsafe"
)

// poolPlaces packs the places of maxima: instead of an index in the plane, an output then has a byte that says which place of its
// window it took.
type poolPlaces struct {
	shape *PoolShape
	codes []uint8    // of places, by their index less that of the window's first place
	index [256]int32 // by code, the other way round
}

// noPlace is the code of an output that took none.
const noPlace = math.MaxUint8

// newPoolPlaces prepares packing for windows of fewer than noPlace places.
func newPoolPlaces(s *PoolShape) *poolPlaces {
	p := &poolPlaces{shape: s, codes: make([]uint8, (s.KH-1)*s.W+s.KW)}
	p.index[noPlace] = math.MinInt32 / 2 // with any window it is outside the plane
	for y := range s.KH {
		for x := range s.KW {
			code := y*s.KW + x
			p.codes[y*s.W+x], p.index[code] = uint8(code), int32(y*s.W+x)
		}
	}
	return p
}

// first is the index of the first place of a row's first window, which may lie in the padding.
func (p *poolPlaces) first(oy int) int32 {
	s := p.shape
	return int32((oy*s.SH-s.PH)*s.W - s.PW)
}

// pack writes the codes of a plane's outputs y, which took the places index. With ReLU, what is not above 0 becomes 0, from no
// place; NaN stays.
func (p *poolPlaces) pack(codes []uint8, y []float32, index []int32) {
	s := p.shape
	for oy := range s.OH {
		row, values := index[oy*s.OW:(oy+1)*s.OW], y[oy*s.OW:(oy+1)*s.OW]
		out, first := codes[oy*s.OW:(oy+1)*s.OW], p.first(oy)
		for i, at := range row {
			code := p.codes[at-first]
			if s.ReLU && values[i] <= 0 {
				values[i], code = 0, noPlace
			}
			out[i] = code
			first += int32(s.SW)
		}
	}
}

// unpack writes the indices that codes stand for; one outside the plane for no place.
func (p *poolPlaces) unpack(index []int32, codes []uint8) {
	s := p.shape
	for oy := range s.OH {
		row, in, first := index[oy*s.OW:(oy+1)*s.OW], codes[oy*s.OW:(oy+1)*s.OW], p.first(oy)
		for i, code := range in {
			row[i] = first + p.index[code]
			first += int32(s.SW)
		}
	}
}

// asBytes views a mask as the bytes that it has room for.
func asBytes(mask []int32) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(mask))), 4*len(mask))
}
