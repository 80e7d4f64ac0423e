package hdf5

// singleIndex is the chunk index of a dataset with one chunk.
type singleIndex struct{ size, mask uint64 }

func (s *singleIndex) chunks(d *storedSet) ([]chunk, error) {
	return []chunk{{make([]int, len(d.shape)), d.layout.address, s.size, s.mask}}, nil
}

// implicitIndex is the chunk index of a dataset whose chunks are stored contiguously, in order.
type implicitIndex struct{}

func (implicitIndex) chunks(d *storedSet) ([]chunk, error) {
	size := uint64(d.chunkBytes())
	return d.numbered(-1, func(number uint64) (entry, error) {
		if number > uint64(d.f.size)/size {
			return entry{}, damaged("chunk %d of %d bytes in a file of %d", number, size, d.f.size)
		}
		return entry{d.layout.address + number*size, size, 0}, nil
	})
}

// entry describes one chunk in an array: its address, its stored size and its filter mask.
type entry struct{ address, size, mask uint64 }

// numbered looks up the chunks of a dataset by number. Chunks are numbered in row-major order over the largest extents of the
// axes. An axis without limit (endless; -1: none) counts as the first axis.
func (d *storedSet) numbered(endless int, look func(number uint64) (entry, error)) ([]chunk, error) {
	rank := len(d.shape)
	counts, most, at := make([]int, rank), make([]int, rank), make([]int, rank)
	for i, extent := range d.layout.chunk {
		counts[i] = ceil(d.shape[i], extent)
		if i != endless {
			if d.max[i] == 0 {
				return nil, damaged("an axis that may grow without end in an index of chunks that cannot")
			}
			most[i] = ceil(d.max[i], extent)
		}
	}
	var all []chunk
	for {
		number := uint64(0)
		if endless >= 0 {
			number = uint64(at[endless])
		}
		for i, n := range at {
			if i == endless {
				continue
			}
			if number > 1<<62/uint64(most[i]) {
				return nil, damaged("chunks of shape %v in a dataset that may grow to %v", d.layout.chunk, d.max)
			}
			number = number*uint64(most[i]) + uint64(n)
		}
		e, err := look(number)
		if err != nil {
			return nil, err
		}
		if e.address != undefined {
			c := chunk{make([]int, rank), e.address, e.size, e.mask}
			for i, n := range at {
				c.at[i] = n * d.layout.chunk[i]
			}
			all = append(all, c)
		}
		if !advance(at, counts) {
			return all, nil
		}
	}
}

// array is the common part of fixed and extensible arrays.
type array struct {
	d         *storedSet
	filtered  bool
	entrySize uint64
	pageSize  uint64            // entries in a page of a large block
	blocks    map[uint64][]byte // data blocks already read, by address
}

// open reads the common beginning of both kinds of header.
func (a *array) open(d *storedSet, c *cursor, sign string) error {
	a.d, a.blocks = d, map[uint64][]byte{}
	c.expect(sign+"\x00", "an array of chunks")
	client := c.u8()
	a.filtered, a.entrySize = client == 1, c.uint(1)
	least := uint64(d.f.offsetSize)
	if a.filtered {
		least += 5
	}
	if c.err == nil && (client > 1 || a.filtered != (len(d.filters) > 0) || a.entrySize < least || a.entrySize > least+7) {
		return damaged("an array of chunks of kind %d with entries of %d bytes for %d filters", client, a.entrySize, len(d.filters))
	}
	return c.err
}

// block reads a block with a checksum, at most once.
func (a *array) block(address, size uint64) ([]byte, error) {
	if b, ok := a.blocks[address]; ok && uint64(len(b))+4 == size {
		return b, nil
	}
	b, err := a.d.f.readChecked(address, size, "a block of an array of chunks")
	if err == nil {
		a.blocks[address] = b
	}
	return b, err
}

// entry returns entry i of the entries in b.
func (a *array) entry(b []byte, i uint64) (entry, error) {
	if i >= uint64(len(b))/a.entrySize {
		return entry{}, damaged("entry %d of %d bytes of chunks", i, len(b))
	}
	c := a.d.f.cursor(b[i*a.entrySize : (i+1)*a.entrySize])
	e := entry{address: c.offset(), size: uint64(a.d.chunkBytes())}
	if a.filtered {
		e.size = c.uint(int(a.entrySize) - a.d.f.offsetSize - 4)
		e.mask = c.u32()
	}
	return e, c.err
}

// inBlock returns entry i of a data block with n entries, after the block's header. Large blocks store their entries in pages.
func (a *array) inBlock(sign string, address, head, n, i uint64, paged func(page uint64, head []byte) bool) (entry, error) {
	if address == undefined {
		return entry{address: undefined}, nil
	}
	if n <= a.pageSize {
		b, err := a.block(address, head+n*a.entrySize+4)
		if err != nil {
			return entry{}, err
		}
		return a.entry(b[head:], i)
	}
	b, err := a.block(address, head+4)
	if err != nil {
		return entry{}, err
	}
	if string(b[:min(4, len(b))]) != sign {
		return entry{}, damaged("a block of an array of chunks begins with %q, not %q", b[:min(4, len(b))], sign)
	}
	page := i / a.pageSize
	if !paged(page, b) {
		return entry{address: undefined}, nil
	}
	full := a.pageSize*a.entrySize + 4
	have := min(a.pageSize, n-page*a.pageSize)
	if page > uint64(a.d.f.size)/full {
		return entry{}, damaged("page %d of an array of chunks", page)
	}
	if b, err = a.block(address+head+4+page*full, have*a.entrySize+4); err != nil {
		return entry{}, err
	}
	return a.entry(b, i%a.pageSize)
}

// bit returns bit i of b; the highest bit of each byte comes first.
func bit(b []byte, i uint64) bool {
	return i/8 < uint64(len(b)) && b[i/8]>>(7-i%8)&1 != 0
}

// fixedArray is a chunk index with one entry for every chunk that a dataset may have (HDF5 file format specification 3.0, section
// VII.C).
type fixedArray struct{}

func (fixedArray) chunks(d *storedSet) ([]chunk, error) {
	f := d.f
	b, err := f.readChecked(d.layout.address, uint64(12+f.lengthSize+f.offsetSize), "an array of chunks")
	if err != nil {
		return nil, err
	}
	a, c := &array{}, f.cursor(b)
	if err := a.open(d, c, "FAHD"); err != nil {
		return nil, err
	}
	pageBits := c.u8()
	n, address := c.length(), c.offset()
	if c.err != nil || address == undefined {
		return nil, c.err
	}
	if pageBits > 31 || n > uint64(f.size) {
		return nil, damaged("an array of %d chunks in pages of %d bits in a file of %d bytes", n, pageBits, f.size)
	}
	a.pageSize = 1 << pageBits
	head := uint64(6 + f.offsetSize)
	bitmap := head
	if n > a.pageSize {
		head += ((n-1)/a.pageSize + 8) / 8
	}
	return d.numbered(-1, func(number uint64) (entry, error) {
		if number >= n {
			return entry{}, damaged("chunk %d of an array of %d", number, n)
		}
		return a.inBlock("FADB", address, head, n, number, func(page uint64, head []byte) bool { return bit(head[bitmap:], page) })
	})
}
