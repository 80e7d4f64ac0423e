package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Classes of datatypes (HDF5 file format specification 3.0, section IV.A.2.d).
const (
	classInteger  = 0
	classFloat    = 1
	classString   = 3
	classEnum     = 8
	classVariable = 9
)

var classNames = []string{"integers", "floats", "times", "strings", "bit fields", "opaque values", "compounds", "references", "enumerations", "sequences of variable length", "arrays", "complex numbers"}

// datatype is the type of a dataset's values.
type datatype struct {
	class int
	size  int // bytes of one value
	big   bool
	// For numbers: the positions of the bits and, for floats, of exponent and mantissa.
	signed                   bool
	bitOffset, precision     int
	sign                     int
	exponentAt, exponentSize int
	mantissaAt, mantissaSize int
	bias                     uint64
	explicit                 bool // the mantissa's first bit, the one before the point, is stored
	text                     bool // for sequences of variable length: the sequence is a string
}

func (t *datatype) String() string {
	name := fmt.Sprintf("values of class %d", t.class)
	if t.class < len(classNames) {
		name = classNames[t.class]
	}
	return fmt.Sprintf("%s of %d bytes", name, t.size)
}

func (f *file) datatype(b []byte) (*datatype, error) {
	c := f.cursor(b)
	t := &datatype{class: c.u8() & 15}
	flags := c.uint(3)
	size := c.u32()
	if c.err != nil {
		return nil, c.err
	}
	if size == 0 || size > math.MaxInt32 {
		return nil, damaged("a type whose values have %d bytes", size)
	}
	t.size = int(size)
	switch t.class {
	case classInteger:
		t.big, t.signed = flags&1 != 0, flags&8 != 0
		t.bitOffset, t.precision = c.u16(), c.u16()
	case classFloat:
		const vax, implied = 0x40, 2
		if flags&vax != 0 {
			return nil, fmt.Errorf("floats in VAX's order of bytes cannot be read")
		}
		t.big, t.sign, t.explicit = flags&1 != 0, int(flags>>8&255), flags>>4&3 != implied
		t.bitOffset, t.precision = c.u16(), c.u16()
		t.exponentAt, t.exponentSize = c.u8(), c.u8()
		t.mantissaAt, t.mantissaSize = c.u8(), c.u8()
		t.bias = c.u32()
	case classEnum:
		if len(c.b) > 0 && c.b[0]&15 != classInteger {
			return nil, damaged("an enumeration of a type of class %d", c.b[0]&15)
		}
		base, err := f.datatype(c.b)
		if err == nil && base.size != t.size {
			err = damaged("an enumeration of %d bytes of a type of %d", t.size, base.size)
		}
		return base, err
	case classVariable:
		t.text = flags&15 == 1
	}
	return t, c.err
}

// number fails unless the values are integers of at most 8 bytes or floats of at most 16.
func (t *datatype) number() error {
	bits := 8 * t.size
	switch {
	case t.class != classInteger && t.class != classFloat || t.size > 16 || t.class == classInteger && t.size > 8:
		return fmt.Errorf("%s cannot be read as numbers: integers of up to 8 bytes and floats of up to 16 can", t)
	case t.precision < 1 || t.bitOffset+t.precision > bits:
		return damaged("numbers with %d bits from bit %d on in %d bytes", t.precision, t.bitOffset, t.size)
	case t.class == classFloat && (t.sign >= bits || t.exponentAt+t.exponentSize > bits || t.mantissaAt+t.mantissaSize > bits ||
		t.exponentSize < 1 || t.exponentSize > 15 || t.mantissaSize < 1):
		return damaged("floats of %d bytes with an exponent of %d bits at %d, a mantissa of %d at %d and a sign at %d",
			t.size, t.exponentSize, t.exponentAt, t.mantissaSize, t.mantissaAt, t.sign)
	}
	return nil
}

// pattern is a value's bytes as an unsigned number of two words, the lower first.
type pattern [2]uint64

func (t *datatype) pattern(b []byte) pattern {
	var full [16]byte
	for i := range t.size {
		if t.big {
			full[i] = b[t.size-1-i]
		} else {
			full[i] = b[i]
		}
	}
	return pattern{binary.LittleEndian.Uint64(full[:]), binary.LittleEndian.Uint64(full[8:])}
}

// field returns n bits, at most 64, from bit at on.
func (p pattern) field(at, n int) uint64 {
	v := p[at/64] >> (at % 64)
	if at < 64 {
		v |= p[1] << (64 - at)
	}
	return v & (1<<n - 1)
}

// any reports whether one of the bits from at up to end is set.
func (p pattern) any(at, end int) bool {
	for ; at < end; at += 64 {
		if p.field(at, min(64, end-at)) != 0 {
			return true
		}
	}
	return false
}

// integer decodes an integer. Convert the result to uint64 for unsigned types.
func (t *datatype) integer(b []byte) int64 {
	up := 64 - t.bitOffset - t.precision
	v := t.pattern(b)[0] << up
	if t.signed {
		return int64(v) >> (64 - t.precision)
	}
	return int64(v >> (64 - t.precision))
}

// float decodes a floating-point value. A mantissa of more bits than a float64 has loses the lowest ones; if these are not all 0, the last bit that stays
// is set, so that rounding the result to float32 gives what rounding the value does.
func (t *datatype) float(b []byte) float64 {
	v := t.pattern(b)
	most := uint64(1)<<t.exponentSize - 1
	exponent := v.field(t.exponentAt, t.exponentSize)
	const kept = 52
	width := min(t.mantissaSize, kept)
	at := t.mantissaAt + t.mantissaSize - width
	mantissa := v.field(at, width)
	if v.any(t.mantissaAt, at) {
		mantissa |= 1
	}
	point := width // bits behind the point
	if t.explicit {
		point--
	}
	var x float64
	switch {
	case exponent == most && (mantissa&(1<<point-1) != 0):
		return math.NaN()
	case exponent == most:
		x = math.Inf(1)
	case exponent == 0:
		x = math.Ldexp(float64(mantissa), 1-int(t.bias)-point)
	case t.explicit:
		x = math.Ldexp(float64(mantissa), int(exponent)-int(t.bias)-point)
	default:
		x = math.Ldexp(float64(mantissa|1<<point), int(exponent)-int(t.bias)-point)
	}
	if v.field(t.sign, 1) != 0 {
		x = -x
	}
	return x
}

// isIEEE reports whether the type is little-endian IEEE 754 of the given size: Go's float32 or float64.
func (t *datatype) isIEEE(size, exponent, mantissa int) bool {
	return t.class == classFloat && !t.big && !t.explicit && t.size == size && t.exponentSize == exponent && t.exponentAt == mantissa && t.mantissaAt == 0 &&
		t.mantissaSize == mantissa && t.bias == 1<<(exponent-1)-1 && t.sign == 8*size-1
}

// toFloats returns a function that converts stored values to float32, each rounded once.
func (t *datatype) toFloats() (func(dst []float32, src []byte), error) {
	if err := t.number(); err != nil {
		return nil, err
	}
	one := func(b []byte) float32 { return float32(t.float(b)) }
	switch {
	case t.isIEEE(4, 8, 23):
		one = func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
	case t.isIEEE(8, 11, 52):
		one = func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }
	case t.class == classInteger && t.signed:
		one = func(b []byte) float32 { return float32(t.integer(b)) }
	case t.class == classInteger:
		one = func(b []byte) float32 { return float32(uint64(t.integer(b))) }
	}
	return func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = one(src[i*t.size:])
		}
	}, nil
}
