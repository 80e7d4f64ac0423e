package hdf5

import (
	"errors"
	"fmt"
	"math"
)

// storedSet describes a dataset as its object header does: shape, type, layout and filters.
type storedSet struct {
	f          *file
	shape, max []int // current and largest extents; max is 0 for an unlimited axis
	kind       *datatype
	layout     *layout
	filters    []filter
	fill       []byte    // the fill value; nil: zeros
	external   []segment // of other files, with the values; nil: they are in this one
}

// maxRank is libhdf5's limit on the number of axes.
const maxRank = 32

func (f *file) dataset(o *object) (*storedSet, error) {
	d := &storedSet{f: f}
	read := func(kind int, parse func(b []byte) error) error {
		b, err := f.message(o, kind)
		if err == nil && b != nil {
			err = parse(b)
		}
		return err
	}
	err := errors.Join(
		read(messageDataspace, d.parseSpace),
		read(messageDatatype, func(b []byte) (err error) { d.kind, err = f.datatype(b); return err }),
		read(messageFilters, d.parseFilters),
		read(messageOldFill, d.parseOldFill),
		read(messageFill, d.parseFill),
		read(messageExternal, d.parseExternal),
	)
	if err != nil {
		return nil, err
	}
	if d.kind == nil {
		return nil, damaged("it has no type")
	}
	if d.fill != nil && len(d.fill) != d.kind.size {
		return nil, damaged("a fill value of %d bytes for %s", len(d.fill), d.kind)
	}
	return d, read(messageLayout, d.parseLayout)
}

// parseSpace reads the extents of the axes (the dataspace message).
func (d *storedSet) parseSpace(b []byte) error {
	c := d.f.cursor(b)
	version, rank, flags := c.u8(), c.u8(), c.u8()
	switch version {
	case 1:
		c.skip(5)
	case 2:
		if c.u8() == 2 {
			return errors.New("it has no values: its dataspace is null")
		}
	default:
		return damaged("a dataspace of version %d", version)
	}
	if rank > maxRank {
		return damaged("a dataspace of %d axes", rank)
	}
	for range rank {
		n := c.length()
		if c.err == nil && n > math.MaxInt/8 {
			return damaged("an axis of %d", n)
		}
		d.shape = append(d.shape, int(n))
	}
	d.max = d.shape
	if flags&1 != 0 {
		d.max = nil
		for i := range rank {
			n := c.length()
			if n == undefined>>(64-8*c.widths) {
				n = 0
			} else if n < uint64(d.shape[i]) || n > math.MaxInt64/8 {
				return damaged("an axis of %d that may grow to %d", d.shape[i], n)
			}
			d.max = append(d.max, asInt(n))
		}
	}
	return c.err
}

func (d *storedSet) parseOldFill(b []byte) error {
	c := d.f.cursor(b)
	d.setFill(c, c.u32())
	return c.err
}

func (d *storedSet) parseFill(b []byte) error {
	c := d.f.cursor(b)
	version, defined := c.u8(), true
	switch version {
	case 1, 2:
		c.skip(2)
		defined = c.u8() != 0 || version == 1
	case 3:
		defined = c.u8()&0x20 != 0
	default:
		return damaged("a fill value of version %d", version)
	}
	d.fill = nil
	if defined {
		d.setFill(c, c.u32())
	}
	return c.err
}

func (d *storedSet) setFill(c *cursor, n uint64) {
	if b := c.take(int(n)); len(b) > 0 {
		d.fill = b
	}
}

// count is the number of values. allow has checked that it does not overflow.
func (d *storedSet) count() int {
	n := 1
	for _, e := range d.shape {
		n *= e
	}
	return n
}

// floats returns all values as float32.
func (d *storedSet) floats() ([]float32, error) {
	convert, err := d.kind.toFloats()
	if err != nil {
		return nil, err
	}
	if err := d.f.allow(d.shape); err != nil {
		return nil, err
	}
	chunks, err := d.prepare()
	if err != nil {
		return nil, err
	}
	values := make([]float32, d.count())
	if d.fill != nil && len(values) > 0 {
		convert(values[:1], d.fill)
		for i := range values[1:] {
			values[i+1] = values[0]
		}
	}
	return values, d.visit(chunks, func(at, n int, b []byte) { convert(values[at:at+n], b) })
}

// first returns the bytes of a dataset with one value.
func (d *storedSet) first() ([]byte, error) {
	if err := d.f.allow(d.shape); err != nil {
		return nil, err
	}
	if d.count() < 1 {
		return nil, errors.New("it has no values")
	}
	chunks, err := d.prepare()
	if err != nil {
		return nil, err
	}
	var value []byte
	err = d.visit(chunks, func(at, n int, b []byte) {
		if at == 0 {
			value = b[:d.kind.size]
		}
	})
	if value == nil && err == nil {
		err = errors.New("its value was never written")
	}
	return value, err
}

// string returns the value of a dataset with one string.
func (d *storedSet) string() (string, error) {
	if d.kind.class != classString && !d.kind.text {
		return "", fmt.Errorf("%s are no string", d.kind)
	}
	b, err := d.first()
	if err == nil && d.kind.class == classVariable {
		b, err = d.f.variable(b)
	}
	return untilNUL(b), err
}

// integer returns the value of a dataset with one integer.
func (d *storedSet) integer() (int64, error) {
	if err := d.kind.number(); err != nil {
		return 0, err
	}
	if err := d.f.allow(d.shape); err != nil {
		return 0, err
	}
	if n := d.count(); n != 1 {
		return 0, fmt.Errorf("shape %v is not one integer", d.shape)
	}
	b, err := d.first()
	if err != nil {
		return 0, err
	}
	if d.kind.class == classInteger {
		v := d.kind.integer(b)
		if v < 0 && !d.kind.signed {
			return 0, fmt.Errorf("%d is too large", uint64(v))
		}
		return v, nil
	}
	v := d.kind.float(b)
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return 0, fmt.Errorf("%v is not one integer", v)
	}
	return int64(v), nil
}
