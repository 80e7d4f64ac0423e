package hdf5

// tree2 is a B-tree of version 2 (HDF5 file format specification 3.0, section III.A.2).
type tree2 struct {
	f          *file
	kind       int
	nodeSize   uint64
	recordSize int
	visit      func(record []byte) error
	// For each level of node: the largest number of records, and the bytes of the number of records in a subtree, as stored in
	// pointers.
	records   []uint64
	totalSize []int
}

// tree2 visits the records of a tree in order. The tree must be of the given kind, with records of at least recordSize bytes.
func (f *file) tree2(address uint64, kind, recordSize int, visit func(record []byte) error) error {
	const what = "a B-tree's head"
	b, err := f.readChecked(address, uint64(22+f.offsetSize+f.lengthSize), what)
	if err != nil {
		return err
	}
	c := f.cursor(b)
	c.expect("BTHD\x00", what)
	t := &tree2{f: f, kind: c.u8(), nodeSize: c.u32(), recordSize: c.u16(), visit: visit}
	depth := c.u16()
	c.skip(2)
	root, n := c.offset(), c.uint(2)
	if c.err != nil {
		return c.err
	}
	if t.kind != kind || t.recordSize < recordSize || t.nodeSize < uint64(10+t.recordSize) || depth > 60 {
		return damaged("the B-tree at address %d has kind %d, records of %d bytes, nodes of %d and %d levels", address, t.kind, t.recordSize, t.nodeSize, depth)
	}
	if n == 0 && depth == 0 {
		return nil
	}
	t.measure(depth)
	return t.node(root, depth, n)
}

// measure computes the largest number of records for nodes of all levels.
func (t *tree2) measure(depth int) {
	t.records, t.totalSize = []uint64{(t.nodeSize - 10) / uint64(t.recordSize)}, []int{0}
	total := t.records[0]
	for level := 1; level <= depth; level++ {
		pointer := uint64(t.pointerSize(level))
		room := t.nodeSize - min(t.nodeSize, 10+pointer)
		t.records = append(t.records, room/(uint64(t.recordSize)+pointer))
		if total = (t.records[level]+1)*total + t.records[level]; total > 1<<56 {
			total = 1 << 56
		}
		t.totalSize = append(t.totalSize, bytesFor(total))
	}
}

// pointerSize is the size of a child pointer in a node: address, number of records in the child, number of records in the
// subtree.
func (t *tree2) pointerSize(level int) int {
	return t.f.offsetSize + bytesFor(t.records[0]) + t.totalSize[level-1]
}

func (t *tree2) node(address uint64, level int, n uint64) error {
	what, sign := "a B-tree's leaf", "BTLF"
	size := 10 + n*uint64(t.recordSize)
	if level > 0 {
		what, sign = "a B-tree's node", "BTIN"
		size += (n + 1) * uint64(t.pointerSize(level))
	}
	if n > t.records[level] || size > t.nodeSize {
		return damaged("%s at address %d has %d records, %d have room", what, address, n, t.records[level])
	}
	b, err := t.f.readChecked(address, size, what)
	if err != nil {
		return err
	}
	c := t.f.cursor(b)
	c.expect(sign+"\x00", what)
	if kind := c.u8(); kind != t.kind {
		return damaged("%s at address %d has kind %d, not %d", what, address, kind, t.kind)
	}
	records := c.take(int(n) * t.recordSize)
	for i := range int(n) + 1 {
		if level > 0 {
			child, below := c.offset(), c.uint(bytesFor(t.records[0]))
			c.skip(t.totalSize[level-1])
			if c.err != nil {
				return c.err
			}
			if err := t.node(child, level-1, below); err != nil {
				return err
			}
		}
		if c.err != nil {
			return c.err
		}
		if i < int(n) {
			if err := t.visit(records[i*t.recordSize : (i+1)*t.recordSize]); err != nil {
				return err
			}
		}
	}
	return nil
}
