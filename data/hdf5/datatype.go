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
		if flags&0x40 != 0 || flags>>4&3 != 2 {
			return nil, fmt.Errorf("floats of a form that is not IEEE's cannot be read")
		}
		t.big, t.sign = flags&1 != 0, int(flags>>8&255)
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

// number fails unless the values are numbers of at most 8 bytes.
func (t *datatype) number() error {
	bits := 8 * t.size
	switch {
	case t.class != classInteger && t.class != classFloat || t.size > 8:
		return fmt.Errorf("%s cannot be read as numbers: integers and floats of up to 8 bytes can", t)
	case t.precision < 1 || t.bitOffset+t.precision > bits:
		return damaged("numbers with %d bits from bit %d on in %d bytes", t.precision, t.bitOffset, t.size)
	case t.class == classFloat && (t.sign >= bits || t.exponentAt+t.exponentSize > bits || t.mantissaAt+t.mantissaSize > bits ||
		t.exponentSize < 1 || t.exponentSize > 15 || t.mantissaSize < 1 || t.mantissaSize > 52):
		return damaged("floats of %d bytes with an exponent of %d bits at %d, a mantissa of %d at %d and a sign at %d",
			t.size, t.exponentSize, t.exponentAt, t.mantissaSize, t.mantissaAt, t.sign)
	}
	return nil
}

// bits returns the bytes of a value as an unsigned number, in the byte order of the type.
func (t *datatype) bits(b []byte) uint64 {
	var full [8]byte
	for i := range t.size {
		if t.big {
			full[i] = b[t.size-1-i]
		} else {
			full[i] = b[i]
		}
	}
	return binary.LittleEndian.Uint64(full[:])
}

// integer decodes an integer. Convert the result to uint64 for unsigned types.
func (t *datatype) integer(b []byte) int64 {
	up := 64 - t.bitOffset - t.precision
	v := t.bits(b) << up
	if t.signed {
		return int64(v) >> (64 - t.precision)
	}
	return int64(v >> (64 - t.precision))
}

// float decodes a floating-point value.
func (t *datatype) float(b []byte) float64 {
	v := t.bits(b)
	most := uint64(1)<<t.exponentSize - 1
	exponent := v >> t.exponentAt & most
	mantissa := v >> t.mantissaAt & (1<<t.mantissaSize - 1)
	var x float64
	switch {
	case exponent == most && mantissa != 0:
		return math.NaN()
	case exponent == most:
		x = math.Inf(1)
	case exponent == 0:
		x = math.Ldexp(float64(mantissa), 1-int(t.bias)-t.mantissaSize)
	default:
		x = math.Ldexp(float64(mantissa|1<<t.mantissaSize), int(exponent)-int(t.bias)-t.mantissaSize)
	}
	if v>>t.sign&1 != 0 {
		x = -x
	}
	return x
}

// isIEEE reports whether the type is little-endian IEEE 754 of the given size: Go's float32 or float64.
func (t *datatype) isIEEE(size, exponent, mantissa int) bool {
	return t.class == classFloat && !t.big && t.size == size && t.exponentSize == exponent && t.exponentAt == mantissa && t.mantissaAt == 0 &&
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
