package hdf5

import (
	"fmt"
	"math"
)

// chunk is one stored chunk of a dataset.
type chunk struct {
	at            []int // index of its first value
	address, size uint64
	mask          uint64 // bit i set: filter i was not applied
}

// chunkIndex finds the addresses of a dataset's chunks. A file uses one of several kinds of index.
type chunkIndex interface {
	chunks(d *storedSet) ([]chunk, error)
}

// prepare checks that all stored values lie inside the file, before memory is allocated for them. It returns the chunks of a
// chunked dataset.
func (d *storedSet) prepare() ([]chunk, error) {
	l := d.layout
	if l == nil {
		return nil, damaged("it has no layout")
	}
	need := uint64(d.count()) * uint64(d.kind.size)
	switch {
	case need == 0:
		return nil, nil
	case l.class == layoutCompact:
		if uint64(len(l.compact)) < need {
			return nil, damaged("%d bytes for shape %v of %s", len(l.compact), d.shape, d.kind)
		}
		return nil, nil
	case l.class == layoutContiguous && d.external != nil:
		return nil, d.checkExternal(need)
	case l.address == undefined:
		return nil, d.checkWritten(0)
	case l.class == layoutContiguous:
		if l.size != 0 && l.size < need {
			return nil, damaged("%d bytes for shape %v of %s", l.size, d.shape, d.kind)
		}
		return nil, d.f.check(l.address, need, "values")
	}
	return d.checkedChunks()
}

func (d *storedSet) checkedChunks() ([]chunk, error) {
	number := 1.0
	for i, n := range d.shape {
		number *= float64(ceil(n, d.layout.chunk[i]))
	}
	if most := float64(d.f.size) + 1<<20; number > most {
		return nil, fmt.Errorf("%g chunks of shape %v are more than a file of %d bytes can have", number, d.layout.chunk, d.f.size)
	}
	all, err := d.layout.index.chunks(d)
	if err != nil {
		return nil, err
	}
	written := uint64(0)
	for _, c := range all {
		if err := d.f.check(c.address, c.size, "a chunk"); err != nil {
			return nil, err
		}
		if written += c.size; written > uint64(d.f.size) {
			return nil, damaged("chunks of more bytes than the file's %d", d.f.size)
		}
	}
	return all, d.checkWritten(d.stretched(written, len(all)))
}

// stretched returns the bytes of values that some chunks of so many bytes can hold. gzip has the highest ratio of all filters but scaleoffset, which
// stores equal values in no bits.
func (d *storedSet) stretched(bytes uint64, chunks int) float64 {
	if len(d.filters) == 0 {
		return float64(bytes)
	}
	for _, f := range d.filters {
		if f.id == filterScaleOffset {
			return float64(chunks) * float64(d.chunkBytes())
		}
	}
	return float64(bytes) * deflateRatio
}

// mostUnwritten limits the number of values in a dataset without stored chunks. The file's length does not bound these.
const mostUnwritten = 1 << 24

// checkWritten fails if so many bytes of values, and what was never written, cannot be a dataset.
func (d *storedSet) checkWritten(bytes float64) error {
	values := bytes / float64(d.kind.size)
	if n := d.count(); float64(n) > values+mostUnwritten {
		return fmt.Errorf("shape %v has %d values, of which the file's %d bytes can hold %.0f: more than %d were never written", d.shape, n, d.f.size, values, mostUnwritten)
	}
	return nil
}

func ceil(n, by int) int { return (n-1)/by + 1 }

// visit calls use for each run of stored values: n values with bytes b, from value at of the dataset on.
func (d *storedSet) visit(chunks []chunk, use func(at, n int, b []byte)) error {
	l, count := d.layout, d.count()
	switch {
	case count == 0:
		return nil
	case l.class == layoutCompact:
		use(0, count, l.compact)
		return nil
	case l.class == layoutContiguous:
		return d.visitContiguous(count, use)
	}
	for i := range chunks {
		if err := d.visitChunk(&chunks[i], use); err != nil {
			return err
		}
	}
	return nil
}

func (d *storedSet) visitContiguous(count int, use func(at, n int, b []byte)) error {
	if d.layout.address == undefined && d.external == nil {
		return nil
	}
	read := func(b []byte, at uint64) error { return d.f.readInto(b, d.layout.address+at, "values") }
	if d.external != nil {
		read = d.readExternal
	}
	size := d.kind.size
	step := max(1, 1<<18/size)
	b := make([]byte, min(step, count)*size)
	for at := 0; at < count; at += step {
		n := min(step, count-at)
		if err := read(b[:n*size], uint64(at*size)); err != nil {
			return err
		}
		use(at, n, b)
	}
	return nil
}

// visitChunk calls use for the rows of a chunk, cut off at the dataset's edges.
func (d *storedSet) visitChunk(c *chunk, use func(at, n int, b []byte)) error {
	rank, extents, edge := len(d.shape), d.layout.chunk, false
	inside := make([]int, rank)
	for i := range rank {
		if c.at[i] >= d.shape[i] {
			return nil
		}
		inside[i] = min(extents[i], d.shape[i]-c.at[i])
		edge = edge || inside[i] < extents[i]
	}
	b, err := d.f.read(c.address, c.size, "a chunk")
	if err != nil {
		return err
	}
	mask := c.mask
	if edge && d.layout.edgesPlain {
		mask = undefined
	}
	if b, err = d.undo(b, mask, d.chunkBytes()); err != nil {
		return err
	}
	for row := make([]int, rank); ; {
		at, from := 0, 0
		for i := range rank {
			at = at*d.shape[i] + c.at[i] + row[i]
			from = from*extents[i] + row[i]
		}
		use(at, inside[rank-1], b[from*d.kind.size:])
		if !advance(row[:rank-1], inside) {
			return nil
		}
	}
}

// advance increments a multi-dimensional index in row-major order, each component below its limit. It returns false after the
// last index.
func advance(at, limits []int) bool {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < limits[i] {
			return true
		}
		at[i] = 0
	}
	return false
}

// treeIndex is a chunk index in a version 1 B-tree.
type treeIndex struct{}

func (treeIndex) chunks(d *storedSet) ([]chunk, error) {
	var all []chunk
	return all, d.chunkNode(d.layout.address, -1, &all)
}

func (d *storedSet) chunkNode(address uint64, level int, all *[]chunk) error {
	rank := len(d.shape)
	head, err := d.f.treeNode(address, 1, level, 2*(8+8*(rank+1)))
	if err != nil {
		return err
	}
	c := d.f.cursor(head.entries)
	for range head.used {
		k := chunk{size: c.u32(), mask: c.u32()}
		at := c.take(8 * rank)
		c.skip(8)
		k.address = c.offset()
		if c.err != nil {
			return c.err
		}
		if head.level > 0 {
			if err := d.chunkNode(k.address, head.level-1, all); err != nil {
				return err
			}
			continue
		}
		if k.at, err = d.place(at, false); err != nil {
			return err
		}
		*all = append(*all, k)
	}
	return nil
}

// place reads the position of a chunk: the index of its first value or, if scaled, the index of the chunk in the grid of chunks.
func (d *storedSet) place(b []byte, scaled bool) ([]int, error) {
	c := d.f.cursor(b)
	at := make([]int, len(d.shape))
	for i, extent := range d.layout.chunk {
		n := c.uint(8)
		if scaled {
			if n > uint64(d.shape[i]) {
				return nil, damaged("chunk %d of an axis of %d", n, d.shape[i])
			}
			n *= uint64(extent)
		}
		if n%uint64(extent) != 0 || n > math.MaxInt/2 {
			return nil, damaged("a chunk that begins at %d of an axis with chunks of %d", n, extent)
		}
		at[i] = int(n)
	}
	return at, nil
}

// tree2Index is a chunk index in a version 2 B-tree.
type tree2Index struct{}

func (tree2Index) chunks(d *storedSet) ([]chunk, error) {
	kind, size := 10, d.f.offsetSize+8*len(d.shape)
	if len(d.filters) > 0 {
		kind, size = 11, size+5
	}
	var all []chunk
	return all, d.f.tree2(d.layout.address, kind, size, func(record []byte) error {
		c := d.f.cursor(record)
		k := chunk{address: c.offset(), size: uint64(d.chunkBytes())}
		if kind == 11 {
			k.size = c.uint(min(8, len(record)-size+1))
			k.mask = c.u32()
		}
		at, err := d.place(c.b, true)
		if err != nil {
			return err
		}
		if c.err == nil && len(c.b) != 8*len(d.shape) {
			c.err = damaged("records of %d bytes in an index of chunks", len(record))
		}
		k.at = at
		all = append(all, k)
		return c.err
	})
}
