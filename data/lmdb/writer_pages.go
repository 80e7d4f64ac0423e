package lmdb

// child is a finished page and the smallest key in its subtree.
type child struct {
	key  []byte
	pgno uint64
}

// writeBranches writes branch pages over children, at least two children each, and returns the branch pages.
func (w *Writer) writeBranches(children []child) []child {
	var level []child
	b := newBuilder()
	for len(children) > 0 {
		n := branchFill(children)
		if len(children)-n == 1 {
			n--
		}
		level = append(level, child{children[0].key, w.next})
		for i, c := range children[:n] {
			key := c.key
			if i == 0 {
				key = nil
			}
			node := b.add(nodeHeader + len(key))
			le.PutUint16(node, uint16(c.pgno))
			le.PutUint16(node[2:], uint16(c.pgno>>16))
			le.PutUint16(node[4:], uint16(c.pgno>>32))
			le.PutUint16(node[6:], uint16(len(key)))
			copy(node[nodeHeader:], key)
		}
		w.flush(b, flagBranch)
		w.main.branch++
		children = children[n:]
	}
	return level
}

// branchFill returns the number of children, from the first on, that one branch page holds.
func branchFill(children []child) int {
	room := writePageSize - pageHeader
	for i, c := range children {
		size := nodeHeader
		if i > 0 {
			size += len(c.key)
		}
		if room -= 2 + even(size); room < 0 {
			return i
		}
	}
	return len(children)
}

func even(n int) int { return (n + 1) &^ 1 }

// builder fills one branch or leaf page: offsets from the front, nodes from the end.
type builder struct {
	page  []byte
	count int
	upper int
}

func newBuilder() *builder { return &builder{page: make([]byte, writePageSize), upper: writePageSize} }

func (b *builder) fits(size int) bool {
	return b.upper-even(size) >= pageHeader+2*(b.count+1)
}

// add returns the zeroed space of a new node.
func (b *builder) add(size int) []byte {
	b.upper -= even(size)
	le.PutUint16(b.page[pageHeader+2*b.count:], uint16(b.upper))
	b.count++
	return b.page[b.upper : b.upper+size]
}

func (b *builder) firstKey() []byte {
	n := b.page[le.Uint16(b.page[pageHeader:]):]
	return n[nodeHeader : nodeHeader+int(le.Uint16(n[6:]))]
}

// seal writes the page header.
func (b *builder) seal(pgno uint64, kind uint16) {
	le.PutUint64(b.page, pgno)
	le.PutUint16(b.page[10:], kind)
	le.PutUint16(b.page[12:], uint16(pageHeader+2*b.count))
	le.PutUint16(b.page[14:], uint16(b.upper))
}
