package hdf5

import "bytes"

// variable returns the bytes of a variable-length sequence. Its stored value names a global heap and the index of the sequence in
// it.
func (f *file) variable(value []byte) ([]byte, error) {
	const what = "a global heap"
	c := f.cursor(value)
	length, address, index := c.u32(), c.offset(), c.u32()
	if c.err != nil || length == 0 {
		return nil, c.err
	}
	b, err := f.read(address, uint64(8+f.lengthSize), what)
	if err != nil {
		return nil, err
	}
	c = f.cursor(b)
	c.expect("GCOL\x01", what)
	c.skip(3)
	size := c.length()
	if c.err != nil {
		return nil, c.err
	}
	if b, err = f.read(address, size, what); err != nil {
		return nil, err
	}
	c = f.cursor(b)
	c.skip(8 + f.lengthSize)
	for len(c.b) >= 8+f.lengthSize {
		number := c.uint(2)
		c.skip(6)
		n := c.length()
		if number == 0 {
			break // the rest of the heap is free
		}
		if n > uint64(len(c.b)) {
			return nil, damaged("an object of %d bytes in a global heap of %d", n, size)
		}
		object := c.take(int(n))
		if number == index {
			return object[:min(uint64(len(object)), length)], nil
		}
		c.skip(min(len(c.b), int(-n&7)))
	}
	return nil, damaged("the global heap at address %d has no object %d", address, index)
}

// untilNUL returns the text before the first NUL, or all of it without one.
func untilNUL(b []byte) string {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}
