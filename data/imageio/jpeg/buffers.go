package jpeg

import "sync"

// buffers are memory for an image, by component. Decoders take it over from others that are done, since much of the time for a small image
// would go into new memory.
type buffers struct {
	samples                 [4][]byte
	coefficients, estimated [4][]int16
	nonzero                 [4][]uint64
	tables                  [2][4]huffman
}

var spare = sync.Pool{New: func() any { return new(buffers) }}

// mostSpare is the number of coefficients of a component up to which memory is handed on.
const mostSpare = 1 << 24

// release hands memory on.
func (d *Decoder) release() {
	b := d.buffers
	for i := range d.components {
		c := &d.components[i]
		if len(c.coefficients) > mostSpare {
			b = nil
		}
		c.samples, c.coefficients, c.estimated, c.nonzero = nil, nil, nil, nil
	}
	if d.buffers = nil; b != nil {
		spare.Put(b)
	}
}

// sized returns n values of a slice, which grows if it is too short. They are anything.
func sized[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	return (*s)[:n]
}
