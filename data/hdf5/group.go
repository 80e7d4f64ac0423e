package hdf5

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// link is an entry of a group: the address of an object, the path of a soft link, or the description of an unsupported kind of
// link.
type link struct {
	name    string
	address uint64
	soft    string
	other   string
}

// longestName limits the length of a link's name. Header messages, where newer groups keep links, cannot be longer.
const longestName = 1 << 16

// links returns the entries of a group in the order of their names.
func (f *file) links(address uint64, o *object) ([]link, error) {
	if l, ok := f.groups[address]; ok {
		return l, nil
	}
	var all []link
	if m, ok := o.find(messageSymbolTable); ok {
		c := f.cursor(m.data)
		tree, heap := c.offset(), c.offset()
		if c.err != nil {
			return nil, c.err
		}
		old := &oldGroup{f: f}
		if err := old.openHeap(heap); err != nil {
			return nil, err
		}
		if err := old.node(tree, -1); err != nil {
			return nil, err
		}
		all = old.links
	}
	for _, m := range o.messages {
		if m.kind != messageLink {
			continue
		}
		l, err := f.parseLink(m.data)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	if m, ok := o.find(messageLinkInfo); ok {
		dense, err := f.denseLinks(m.data)
		if err != nil {
			return nil, err
		}
		all = append(all, dense...)
	}
	slices.SortStableFunc(all, func(a, b link) int { return strings.Compare(a.name, b.name) })
	f.groups[address] = all
	return all, nil
}

// oldGroup reads a group of the older kind: a B-tree of symbol tables, with the names in a local heap.
type oldGroup struct {
	f        *file
	heap     uint64 // address of the heap's text
	heapSize uint64
	links    []link
}

func (g *oldGroup) openHeap(address uint64) error {
	b, err := g.f.read(address, uint64(8+2*g.f.lengthSize+g.f.offsetSize), "a local heap")
	if err != nil {
		return err
	}
	c := g.f.cursor(b)
	c.expect("HEAP", "a local heap")
	c.skip(4)
	g.heapSize = c.length()
	c.length()
	g.heap = c.offset()
	if c.err != nil {
		return c.err
	}
	return g.f.check(g.heap, g.heapSize, "a local heap")
}

// text returns the string at an offset of the heap.
func (g *oldGroup) text(offset uint64) (string, error) {
	var all []byte
	for step := uint64(32); ; step *= 2 {
		if offset >= g.heapSize {
			return "", damaged("a name at byte %d of a local heap of %d", offset, g.heapSize)
		}
		b, err := g.f.read(g.heap+offset, min(step, g.heapSize-offset), "a name")
		if err != nil {
			return "", err
		}
		if end := bytes.IndexByte(b, 0); end >= 0 {
			return string(append(all, b[:end]...)), nil
		}
		all = append(all, b...)
		offset += uint64(len(b))
		if len(all) > longestName {
			return "", damaged("a name of more than %d bytes", longestName)
		}
	}
}

// node reads a node of the B-tree. The node must have the given level; -1 accepts every level, for the root.
func (g *oldGroup) node(address uint64, level int) error {
	head, err := g.f.treeNode(address, 0, level, 2*g.f.lengthSize)
	if err != nil {
		return err
	}
	c := g.f.cursor(head.entries)
	for range head.used {
		c.length()
		child := c.offset()
		if c.err != nil {
			return c.err
		}
		if head.level > 0 {
			err = g.node(child, head.level-1)
		} else {
			err = g.table(child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// treeHead is the content of a version 1 B-tree node after its header.
type treeHead struct {
	level, used int
	entries     []byte // keys and child addresses alternate; a key comes last
}

// treeNode reads a node of a version 1 B-tree. keys is the least number of bytes that two keys take.
func (f *file) treeNode(address uint64, kind, level, keys int) (treeHead, error) {
	const what = "a B-tree's node"
	size := uint64(8 + 2*f.offsetSize)
	b, err := f.read(address, size, what)
	if err != nil {
		return treeHead{}, err
	}
	c := f.cursor(b)
	c.expect("TREE", what)
	gotKind := c.u8()
	head := treeHead{level: c.u8(), used: c.u16()}
	if c.err != nil {
		return head, c.err
	}
	if gotKind != kind || level >= 0 && head.level != level {
		return head, damaged("the B-tree's node at address %d has kind %d and level %d, kind %d and level %d should be there", address, gotKind, head.level, kind, level)
	}
	one := keys / 2
	head.entries, err = f.read(address+size, uint64(head.used*(one+f.offsetSize)+one), what)
	return head, err
}

// table reads a symbol table node.
func (g *oldGroup) table(address uint64) error {
	const what = "a symbol table"
	b, err := g.f.read(address, 8, what)
	if err != nil {
		return err
	}
	c := g.f.cursor(b)
	c.expect("SNOD\x01", what)
	c.skip(1)
	n := c.u16()
	if c.err != nil {
		return c.err
	}
	if b, err = g.f.read(address+8, uint64(n*(2*g.f.offsetSize+24)), what); err != nil {
		return err
	}
	c = g.f.cursor(b)
	for range n {
		name, header := c.offset(), c.offset()
		cache := c.u32()
		c.skip(4)
		value := c.u32()
		c.skip(12)
		l := link{address: header}
		if l.name, err = g.text(name); err != nil {
			return err
		}
		if cache == 2 {
			if l.soft, err = g.text(value); err != nil {
				return err
			}
		}
		g.links = append(g.links, l)
	}
	return c.err
}

// parseLink reads a link message.
func (f *file) parseLink(b []byte) (link, error) {
	c := f.cursor(b)
	c.expect("\x01", "a link")
	flags, kind := c.u8(), 0
	if flags&0x08 != 0 {
		kind = c.u8()
	}
	if flags&0x04 != 0 {
		c.skip(8)
	}
	if flags&0x10 != 0 {
		c.skip(1)
	}
	n := c.uint(1 << (flags & 3))
	l := link{name: string(c.take(int(min(n, longestName+1))))}
	switch kind {
	case 0:
		l.address = c.offset()
	case 1:
		l.soft = string(c.take(c.u16()))
	case 64:
		value := c.take(c.u16())
		where, object, _ := strings.Cut(strings.TrimPrefix(string(value), "\x00"), "\x00")
		l.other = fmt.Sprintf("an external link, to %s of file %q, which is not followed", strings.TrimRight(object, "\x00"), where)
	default:
		l.other = fmt.Sprintf("a link of kind %d, which is not known", kind)
	}
	return l, c.err
}
