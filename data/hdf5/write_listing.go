package hdf5

import (
	"encoding/binary"
	"slices"
)

// The version 0 superblock states the sizes of group structures. These values are libhdf5's defaults.
const (
	superblockSize = 96
	leafRank       = 4  // a symbol table holds at most twice as many entries
	nodeRank       = 16 // a B-tree node holds at most twice as many children
	symbolSize     = 40
)

// symbol is an entry of a group: the offset of its name in the group's heap, and the address of the object.
type symbol struct{ name, header, tree, heap uint64 } // tree and heap: for groups only

// put appends 8-byte numbers.
func put(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// append appends the entry in the form of a symbol table.
func (s symbol) append(b []byte) []byte {
	cached := uint64(0)
	if s.tree != 0 {
		cached = 1
	}
	return put(b, s.name, s.header, cached, s.tree, s.heap)
}

func newSuperblock(end uint64, root symbol) []byte {
	b := append([]byte(signature), 0, 0, 0, 0, 0, 8, 8, 0, leafRank, 0, nodeRank, 0, 0, 0, 0, 0)
	b = put(b, 0, undefined, end, undefined)
	return root.append(b)
}

// listing holds the headers and groups of a file. It follows the values, from base on.
type listing struct {
	b    []byte
	base uint64
}

// at adds a structure and returns its address.
func (l *listing) at(b []byte) uint64 {
	address := l.base + uint64(len(l.b))
	l.b = append(l.b, b...)
	l.b = append(l.b, make([]byte, -len(b)&7)...)
	return address
}

// group adds a group with its whole subtree: a heap of names, symbol tables, a B-tree over them, and the group's header.
func (l *listing) group(n *node) symbol {
	heap := make([]byte, 8) // the empty name at offset 0 sorts before all others
	var symbols []symbol
	for _, child := range n.sorted() {
		s := symbol{}
		if child.set != nil {
			s.header = l.dataset(child.set)
		} else {
			s = l.group(child)
		}
		s.name = uint64(len(heap))
		heap = append(append(heap, child.name...), 0)
		heap = append(heap, make([]byte, -len(heap)&7)...)
		symbols = append(symbols, s)
	}
	const noneFree = 1 // the offset of the first free block: none
	head := put([]byte("HEAP\x00\x00\x00\x00"), uint64(len(heap)), noneFree)
	text := l.at(heap)
	g := symbol{heap: l.at(put(head, text))}
	g.tree = l.tree(symbols)
	g.header = l.at(header(message{kind: messageSymbolTable, data: put(nil, g.tree, g.heap)}))
	return g
}

// branch is a symbol table or a B-tree node: its address, and the heap offset of the last name below it.
type branch struct{ address, last uint64 }

// tree adds the symbol tables and the B-tree over them, and returns the root's address.
func (l *listing) tree(symbols []symbol) uint64 {
	var row []branch
	for part := range slices.Chunk(symbols, 2*leafRank) {
		b := append([]byte("SNOD\x01\x00"), byte(len(part)), 0)
		for _, s := range part {
			b = s.append(b)
		}
		b = append(b, make([]byte, 8+2*leafRank*symbolSize-len(b))...)
		row = append(row, branch{l.at(b), part[len(part)-1].name})
	}
	for level := byte(0); ; level++ {
		row = l.level(row, level)
		if len(row) == 1 {
			return row[0].address
		}
	}
}

// level adds the B-tree nodes over a list of tables or nodes. Each node holds the addresses of its neighbours.
func (l *listing) level(below []branch, level byte) []branch {
	const size = 24 + 8*(2*nodeRank+2*nodeRank+1)
	n := max(1, (len(below)+2*nodeRank-1)/(2*nodeRank))
	first := l.base + uint64(len(l.b))
	var row []branch
	last := uint64(0)
	for i := range n {
		left, right := undefined, undefined
		if i > 0 {
			left = first + uint64(i-1)*size
		}
		if i < n-1 {
			right = first + uint64(i+1)*size
		}
		part := below[i*len(below)/n : (i+1)*len(below)/n]
		b := append([]byte("TREE\x00"), level, byte(len(part)), 0)
		b = put(b, left, right, last)
		for _, c := range part {
			b = put(b, c.address, c.last)
			last = c.last
		}
		row = append(row, branch{l.at(append(b, make([]byte, size-len(b))...)), last})
	}
	return row
}

// dataset adds a dataset's header and returns its address.
func (l *listing) dataset(s *stored) uint64 {
	space := []byte{1, byte(len(s.shape)), 0, 0, 0, 0, 0, 0}
	for _, n := range s.shape {
		space = put(space, uint64(n))
	}
	address, size := s.address, s.bytes()
	if size == 0 {
		address = undefined
	}
	// Fill value message: late allocation, write the fill value only if the user set one, the default fill value.
	fill := []byte{2, 2, 2, 1, 0, 0, 0, 0}
	place := put([]byte{3, layoutContiguous}, address, size)
	return l.at(header(message{kind: messageDataspace, data: space}, message{kind: messageDatatype, flags: 1, data: s.datatype()},
		message{kind: messageFill, flags: 1, data: fill}, message{kind: messageLayout, data: place}))
}

// datatype is the datatype message: 32-bit IEEE floats, 32-bit integers, or NUL-terminated strings.
func (s *stored) datatype() []byte {
	const version = 1 << 4
	switch s.class {
	case classString:
		return binary.LittleEndian.AppendUint32([]byte{version | classString, 0, 0, 0}, uint32(len(s.text)))
	case classInteger:
		const signed = 8
		return []byte{version | classInteger, signed, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0}
	}
	const hiddenBit = 0x20
	return []byte{version | classFloat, hiddenBit, 31, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0}
}

// header returns a version 1 object header.
func header(messages ...message) []byte {
	var body []byte
	for _, m := range messages {
		length := (len(m.data) + 7) &^ 7
		body = binary.LittleEndian.AppendUint16(body, uint16(m.kind))
		body = binary.LittleEndian.AppendUint16(body, uint16(length))
		body = append(body, byte(m.flags), 0, 0, 0)
		body = append(append(body, m.data...), make([]byte, length-len(m.data))...)
	}
	b := []byte{1, 0, byte(len(messages)), 0, 1, 0, 0, 0}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	return append(append(b, 0, 0, 0, 0), body...)
}
