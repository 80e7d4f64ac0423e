package hdf5

import "fmt"

// denseLinks reads the links of a group from its fractal heap. The group's B-tree of names has the positions in the heap. A small
// group has no heap.
func (f *file) denseLinks(info []byte) ([]link, error) {
	c := f.cursor(info)
	c.expect("\x00", "a group's link information")
	if c.u8()&1 != 0 {
		c.skip(8)
	}
	heapAddress, names := c.offset(), c.offset()
	if c.err != nil || heapAddress == undefined {
		return nil, c.err
	}
	heap, err := f.openHeap(heapAddress)
	if err != nil {
		return nil, err
	}
	var all []link
	err = f.tree2(names, 5, 4+heap.idSize, func(record []byte) error {
		b, err := heap.object(record[4:])
		if err != nil {
			return err
		}
		l, err := f.parseLink(b)
		all = append(all, l)
		return err
	})
	return all, err
}

// fractalHeap stores the links of large groups in newer files: objects in the blocks of a table, whose rows have blocks of
// doubling sizes (HDF5 file format specification 3.0, section III.G).
type fractalHeap struct {
	f                         *file
	idSize                    int
	offsetBytes, lengthBytes  int
	width                     uint64 // blocks per row
	start, maxDirect, maxSize uint64 // bytes of a block in the first row; bytes of the largest direct block; bits of an offset in the heap
	root                      uint64
	rows                      int // rows of the root block; 0: the root is a direct block
}

func (f *file) openHeap(address uint64) (*fractalHeap, error) {
	const what = "a fractal heap"
	o, l := f.offsetSize, f.lengthSize
	b, err := f.readChecked(address, uint64(26+3*o+12*l), what)
	if err != nil {
		return nil, err
	}
	c := f.cursor(b)
	c.expect("FRHP\x00", what)
	h := &fractalHeap{f: f, idSize: c.u16()}
	filters := c.u16()
	c.skip(1)
	largest := c.u32()
	c.skip(2*o + 10*l)
	h.width = c.uint(2)
	h.start, h.maxDirect = c.length(), c.length()
	h.maxSize = c.uint(2)
	c.skip(2)
	h.root, h.rows = c.offset(), c.u16()
	switch {
	case c.err != nil:
		return nil, c.err
	case filters != 0:
		return nil, fmt.Errorf("a group whose links are compressed cannot be read")
	case h.width == 0 || h.start == 0 || h.start&(h.start-1) != 0 || h.maxDirect < h.start || h.maxSize > 64:
		return nil, damaged("a fractal heap with rows of %d blocks of %d to %d bytes", h.width, h.start, h.maxDirect)
	}
	h.offsetBytes = int(h.maxSize+7) / 8
	h.lengthBytes = min(bytesFor(h.maxDirect), bytesFor(largest))
	return h, nil
}

// object returns the object that a heap ID names.
func (h *fractalHeap) object(id []byte) ([]byte, error) {
	c := h.f.cursor(id)
	switch kind := c.u8(); kind >> 4 {
	case 0:
		offset, length := c.uint(h.offsetBytes), c.uint(h.lengthBytes)
		if c.err != nil {
			return nil, c.err
		}
		if h.rows == 0 {
			return h.inBlock(h.root, h.start, offset, length)
		}
		return h.find(h.root, h.rows, offset, length)
	case 2:
		return c.take(kind&15 + 1), c.err
	default:
		return nil, fmt.Errorf("a group with a link of more than 4 KB, or one of kind %d, cannot be read", kind>>4)
	}
}

// inBlock reads length bytes at an offset of a direct block.
func (h *fractalHeap) inBlock(address, size, offset, length uint64) ([]byte, error) {
	if offset > size || length > size-offset {
		return nil, damaged("%d bytes at byte %d of a heap's block of %d", length, offset, size)
	}
	return h.f.read(address+offset, length, "a heap's object")
}

// rowSize is the size in bytes of the blocks in a row.
func (h *fractalHeap) rowSize(row int) uint64 {
	if shift := max(0, row-1); shift < 64 && h.start<<shift>>shift == h.start {
		return h.start << shift
	}
	return 0
}

// find reads length bytes at an offset of the heap, starting from an indirect block. The indirect block holds the addresses of
// its child blocks.
func (h *fractalHeap) find(address uint64, rows int, offset, length uint64) ([]byte, error) {
	for range 64 {
		row := 0
		size := h.rowSize(row)
		for ; row < rows && size > 0 && offset/size >= h.width; row++ {
			offset -= size * h.width
			size = h.rowSize(row + 1)
		}
		if row >= rows || size == 0 {
			return nil, damaged("an offset past the %d rows of a fractal heap's block", rows)
		}
		// A block starts with its signature, its version, the heap's address and its own offset in the heap.
		head := uint64(5 + h.f.offsetSize + h.offsetBytes)
		b, err := h.f.read(address, 4, "a fractal heap's block")
		if err != nil {
			return nil, err
		}
		if string(b) != "FHIB" {
			return nil, damaged("a fractal heap's block at address %d begins with %q", address, b)
		}
		entry := uint64(row)*h.width + offset/size
		if b, err = h.f.read(address+head+entry*uint64(h.f.offsetSize), uint64(h.f.offsetSize), "a fractal heap's block"); err != nil {
			return nil, err
		}
		address = h.f.cursor(b).offset()
		offset %= size
		if size <= h.maxDirect {
			return h.inBlock(address, size, offset, length)
		}
		rows = log2(size) - log2(h.start*h.width) + 1
	}
	return nil, damaged("a fractal heap's blocks go too deep")
}
