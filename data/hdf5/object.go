package hdf5

import "fmt"

// Kinds of object header messages that this package reads (HDF5 file format specification 3.0, section IV.A.2).
const (
	messageDataspace    = 0x01
	messageLinkInfo     = 0x02
	messageDatatype     = 0x03
	messageOldFill      = 0x04
	messageFill         = 0x05
	messageLink         = 0x06
	messageExternal     = 0x07
	messageLayout       = 0x08
	messageFilters      = 0x0b
	messageContinuation = 0x10
	messageSymbolTable  = 0x11
)

// flagShared in a message's flags marks a shared message: its data are the address of the actual message.
const flagShared = 0x02

type message struct {
	kind, flags int
	data        []byte
}

// object is an object header: of a group, a dataset or a named datatype.
type object struct{ messages []message }

// find returns the first message of a kind; false if there is none.
func (o *object) find(kind int) (message, bool) {
	for _, m := range o.messages {
		if m.kind == kind {
			return m, true
		}
	}
	return message{}, false
}

func (o *object) has(kind int) bool {
	_, ok := o.find(kind)
	return ok
}

func (o *object) isDataset() bool { return o.has(messageLayout) && o.has(messageDataspace) }

func (o *object) isGroup() bool {
	return o.has(messageSymbolTable) || o.has(messageLinkInfo) || o.has(messageLink)
}

const headerText = "an object header"

// object reads the header at an address, with all its continuation blocks.
func (f *file) object(address uint64) (*object, error) {
	head, err := f.read(address, 6, headerText)
	if err != nil {
		return nil, err
	}
	p := &headerParser{f: f, object: &object{}}
	if string(head[:4]) == "OHDR" {
		return p.object, p.version2(address, int(head[4]), int(head[5]))
	}
	return p.object, p.version1(address)
}

// headerParser collects the messages of a header block by block.
type headerParser struct {
	f      *file
	object *object
	total  uint64      // bytes of the blocks so far; they must fit into the file
	more   [][2]uint64 // continuation blocks: address, length
}

func (p *headerParser) version1(address uint64) error {
	b, err := p.f.read(address, 16, headerText)
	if err != nil {
		return err
	}
	c := p.f.cursor(b)
	c.expect("\x01", headerText)
	c.skip(7)
	length := c.u32()
	if c.err != nil {
		return c.err
	}
	return p.blocks(address+16, length, func(address, n uint64) error {
		b, err := p.f.read(address, n, headerText)
		if err != nil {
			return err
		}
		return p.messages(b, 2, 8)
	})
}

func (p *headerParser) version2(address uint64, version, flags int) error {
	if version != 2 {
		return damaged("an object header of version %d at address %d", version, address)
	}
	prefix := uint64(6)
	if flags&0x20 != 0 {
		prefix += 16 // timestamps
	}
	if flags&0x10 != 0 {
		prefix += 4 // limits for attribute storage
	}
	width := 1 << (flags & 3)
	b, err := p.f.read(address+prefix, uint64(width), headerText)
	if err != nil {
		return err
	}
	length := p.f.cursor(b).uint(width)
	if err := p.f.check(address, length, headerText); err != nil {
		return err
	}
	prefix += uint64(width)
	first, head := true, 4
	if flags&0x04 != 0 {
		head += 2 // creation order of the message
	}
	return p.blocks(address, prefix+length+4, func(address, n uint64) error {
		b, err := p.f.readChecked(address, n, headerText)
		if err != nil {
			return err
		}
		if first {
			first = false
			return p.messages(b[prefix:], 1, head)
		}
		c := p.f.cursor(b)
		if c.expect("OCHK", "a continued object header"); c.err != nil {
			return c.err
		}
		return p.messages(c.b, 1, head)
	})
}

// blocks reads the first block of a header and its continuation blocks.
func (p *headerParser) blocks(address, length uint64, read func(address, length uint64) error) error {
	p.more = append(p.more, [2]uint64{address, length})
	for i := 0; i < len(p.more); i++ {
		address, length := p.more[i][0], p.more[i][1]
		if err := p.f.check(address, length, headerText); err != nil {
			return err
		}
		if p.total += length; p.total > uint64(p.f.size) {
			return damaged("the blocks of an object header at address %d have more bytes than the file's %d", p.more[0][0], p.f.size)
		}
		if err := read(address, length); err != nil {
			return err
		}
	}
	return nil
}

// messages parses the messages of a block. Each begins with its kind, length and flags. A remainder shorter than a message header
// is a gap.
func (p *headerParser) messages(b []byte, kindBytes, head int) error {
	c := p.f.cursor(b)
	for len(c.b) >= head {
		kind, length, flags := int(c.uint(kindBytes)), c.u16(), c.u8()
		c.skip(head - kindBytes - 3)
		data := c.take(length)
		if c.err != nil {
			return c.err
		}
		if kind != messageContinuation {
			p.object.messages = append(p.object.messages, message{kind, flags, data})
			continue
		}
		at := p.f.cursor(data)
		p.more = append(p.more, [2]uint64{at.offset(), at.length()})
		if at.err != nil {
			return at.err
		}
	}
	return nil
}

// message returns the data of an object's message of a kind, nil if it has none. A shared datatype is read from the object that
// holds it.
func (f *file) message(o *object, kind int) ([]byte, error) {
	m, ok := o.find(kind)
	if !ok || m.flags&flagShared == 0 {
		return m.data, nil
	}
	c := f.cursor(m.data)
	version, where := c.u8(), c.u8()
	if version == 1 {
		c.skip(6 + f.lengthSize) // heap address and name offset of the link
	}
	if version < 1 || version > 3 || version == 3 && where != 2 {
		return nil, fmt.Errorf("message %d is kept in the file's heap of shared messages, which cannot be read", kind)
	}
	address := c.offset()
	if c.err != nil {
		return nil, c.err
	}
	other, err := f.object(address)
	if err != nil {
		return nil, err
	}
	if m, ok = other.find(kind); !ok || m.flags&flagShared != 0 {
		return nil, damaged("the object at address %d has no message %d to share", address, kind)
	}
	return m.data, nil
}
