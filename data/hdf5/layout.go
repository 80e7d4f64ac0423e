package hdf5

import (
	"fmt"
	"math"
)

// layout says where a dataset's values are stored.
type layout struct {
	class   int
	compact []byte
	address uint64
	size    uint64 // bytes of contiguous values; 0 if the message omits it
	chunk   []int  // extents of a chunk
	index   chunkIndex
	// edgesPlain: chunks that extend beyond the dataset's edges are stored unfiltered.
	edgesPlain bool
}

const (
	layoutCompact    = 0
	layoutContiguous = 1
	layoutChunked    = 2
)

func (d *storedSet) parseLayout(b []byte) error {
	c := d.f.cursor(b)
	l := &layout{}
	d.layout = l
	version := c.u8()
	rank := 0
	switch version {
	case 1, 2:
		rank, l.class = c.u8(), c.u8()
		c.skip(5)
	case 3, 4:
		l.class = c.u8()
	default:
		return fmt.Errorf("a layout of version %d cannot be read: versions 1 to 4 can", version)
	}
	switch {
	case l.class > layoutChunked:
		return fmt.Errorf("a layout of class %d cannot be read: virtual datasets are not followed", l.class)
	case version <= 2:
		d.parseOldLayout(c, rank)
	case l.class == layoutCompact:
		l.compact = c.take(c.u16())
	case l.class == layoutContiguous:
		l.address, l.size = c.offset(), c.length()
	case version == 3:
		rank = c.u8()
		l.address = c.offset()
		d.parseChunk(c, rank, 4)
		l.index = &treeIndex{}
	default:
		return d.parseNewChunks(c)
	}
	if c.err != nil {
		return c.err
	}
	return d.checkChunk()
}

// parseOldLayout reads versions 1 and 2.
func (d *storedSet) parseOldLayout(c *cursor, rank int) {
	l := d.layout
	if l.class != layoutCompact {
		l.address = c.offset()
	}
	if l.class == layoutChunked {
		d.parseChunk(c, rank, 4)
		l.index = &treeIndex{}
		return
	}
	c.skip(4 * rank)
	if l.class == layoutCompact {
		n := c.u32()
		l.compact = c.take(int(n))
	}
}

// parseChunk reads the extents of a chunk, followed by the size of a value.
func (d *storedSet) parseChunk(c *cursor, rank, width int) {
	if c.err == nil && rank != len(d.shape)+1 {
		c.err = damaged("chunks of %d axes in a dataset of %d", rank-1, len(d.shape))
	}
	for i := range rank {
		n := c.uint(width)
		switch {
		case c.err != nil:
			return
		case i == rank-1 && n != uint64(d.kind.size):
			c.err = damaged("chunks of values of %d bytes in a dataset of %s", n, d.kind)
		case n == 0 || n > math.MaxInt32:
			c.err = damaged("a chunk with an axis of %d", n)
		case i < rank-1:
			d.layout.chunk = append(d.layout.chunk, int(n))
		}
	}
}

// parseNewChunks reads a version 4 chunk layout: the extents of a chunk, and the kind and place of the chunk index.
func (d *storedSet) parseNewChunks(c *cursor) error {
	l := d.layout
	flags, rank, width := c.u8(), c.u8(), c.u8()
	if width < 1 || width > 8 {
		return damaged("extents of chunks of %d bytes", width)
	}
	d.parseChunk(c, rank, width)
	if c.err != nil {
		return c.err
	}
	if err := d.checkChunk(); err != nil {
		return err
	}
	const edgesPlain, singleFiltered = 1, 2
	l.edgesPlain = flags&edgesPlain != 0
	switch kind := c.u8(); kind {
	case 1:
		s := &singleIndex{size: uint64(d.chunkBytes())}
		if flags&singleFiltered != 0 {
			s.size, s.mask = c.length(), c.u32()
		}
		l.index = s
	case 2:
		l.index = &implicitIndex{}
	case 3:
		c.skip(1)
		l.index = &fixedArray{}
	case 4:
		c.skip(5)
		l.index = &extensibleArray{}
	case 5:
		c.skip(6)
		l.index = &tree2Index{}
	default:
		return damaged("an index of chunks of kind %d", kind)
	}
	l.address = c.offset()
	return c.err
}

// checkChunk fails if a chunk is larger than libhdf5 permits, or if an extent is 0.
func (d *storedSet) checkChunk() error {
	if d.layout.class != layoutChunked {
		if len(d.filters) > 0 {
			return damaged("filters in a dataset that has no chunks")
		}
		return nil
	}
	bytes := float64(d.kind.size)
	for _, n := range d.layout.chunk {
		bytes *= float64(n)
	}
	if bytes > math.MaxUint32 || len(d.shape) == 0 {
		return damaged("chunks of shape %v of %s", d.layout.chunk, d.kind)
	}
	return nil
}

// chunkBytes is the length of a chunk before filtering.
func (d *storedSet) chunkBytes() int {
	n := d.kind.size
	for _, e := range d.layout.chunk {
		n *= e
	}
	return n
}
