package imageio

import (
	"encoding/binary"
	"math"
)

// directory reads the tags of the first image.
func (t *tiffFile) directory() error {
	const entry = 12
	if len(t.file) < 8 {
		return errCutTIFF
	}
	start := uint64(t.order.Uint32(t.file[4:]))
	if start+2 > uint64(len(t.file)) {
		return errCutTIFF
	}
	n, at := int(t.order.Uint16(t.file[start:])), int(start)+2
	if len(t.file) < at+n*entry {
		return errCutTIFF
	}
	for i := range n {
		e := t.file[at+i*entry:][:entry]
		tag, kind := int(t.order.Uint16(e)), int(t.order.Uint16(e[2:]))
		count := uint64(t.order.Uint32(e[4:]))
		size := uint64(valueSize(kind))
		if size == 0 || count == 0 || count > uint64(len(t.file)) || t.tags[tag] != nil {
			continue
		}
		values := e[8:]
		if size*count > 4 {
			from := uint64(t.order.Uint32(e[8:]))
			if from > uint64(len(t.file)) || size*count > uint64(len(t.file))-from {
				if tag == tagColours || tag == tagOffsets || tag == tagCounts || tag == tagBits || tag == tagTileOffsets || tag == tagTileCounts || tag == tagTables {
					return errCutTIFF
				}
				continue
			}
			values = t.file[from:]
		}
		if tag == tagTables {
			t.tables = values[:count]
			continue
		}
		t.tags[tag] = t.values(values, kind, min(int(count), mostValues(tag)))
	}
	return nil
}

// mostValues is how many values of a tag are read. Thousands of tags can share the bytes of many.
func mostValues(tag int) int {
	switch tag {
	case tagOffsets, tagCounts, tagTileOffsets, tagTileCounts:
		return math.MaxInt
	case tagColours:
		return 3 << 16
	}
	return 64
}

// valueSize is the number of bytes of a value of a type; 0: the type is unknown.
func valueSize(kind int) int {
	if kind > 18 {
		return 0
	}
	return []int{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8}[max(kind, 0)]
}

// values reads values of a type.
func (t *tiffFile) values(in []byte, kind, count int) []float64 {
	all, size := make([]float64, count), valueSize(kind)
	for i := range all {
		b := in[i*size:]
		switch kind {
		case 5, 10: // fractions
			if below := t.order.Uint32(b[4:]); below != 0 {
				all[i] = float64(t.order.Uint32(b)) / float64(below)
			}
		case 11:
			all[i] = float64(math.Float32frombits(t.order.Uint32(b)))
		case 12:
			all[i] = math.Float64frombits(t.order.Uint64(b))
		default:
			switch size {
			case 1:
				all[i] = float64(b[0])
			case 2:
				all[i] = float64(t.order.Uint16(b))
			case 4:
				all[i] = float64(t.order.Uint32(b))
			case 8:
				all[i] = float64(t.order.Uint64(b))
			}
		}
	}
	return all
}

// number returns the first value of a tag.
func (t *tiffFile) number(tag, missing int) int {
	if v := t.tags[tag]; v != nil && v[0] <= math.MaxInt32 {
		return int(v[0])
	} else if v != nil && tag != tagRows {
		return math.MaxInt32
	}
	return missing
}

// floats returns the values of a tag if there are as many as wanted.
func (t *tiffFile) floats(tag int, missing ...float32) []float32 {
	v := t.tags[tag]
	if len(v) != len(missing) {
		return missing
	}
	all := make([]float32, len(v))
	for i := range v {
		all[i] = float32(v[i])
	}
	return all
}

// bigEndian reports whether values of 16 bits have their upper byte first.
func (t *tiffFile) bigEndian() bool { return t.order == binary.BigEndian }
