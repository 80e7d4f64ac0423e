package lmdb

import "bytes"

// Cursor iterates over a database in the order of its keys. It starts before the first entry:
//
//	for ok := c.First(); ok; ok = c.Next() { c.Key(); c.Value() }
//	if c.Err() != nil { ... }
type Cursor struct {
	db    *DB
	stack [maxDepth]level // pages from the root to the leaf
	depth int             // 0: not on an entry
	key   []byte          // a copy of the current key; nil without an entry
	own   []byte          // the storage of key
	value []byte          // the storage of Value's result
	begun bool
	err   error
}

// level is a page on the path to the current entry, and the index of the chosen node.
type level struct {
	page page
	node int
}

// Cursor returns a new cursor.
func (db *DB) Cursor() *Cursor { return &Cursor{db: db, own: make([]byte, 0, MaxKeySize)} }

// Err returns the error that stopped the cursor, or nil at the end of the database.
func (c *Cursor) Err() error { return c.err }

// Key returns the key of the current entry, valid until the next move.
func (c *Cursor) Key() []byte { return c.key }

// Value returns a copy of the value of the current entry, valid until the next Value.
func (c *Cursor) Value() ([]byte, error) {
	var err error
	c.value, err = c.AppendValue(c.value[:0])
	return c.value, err
}

// AppendValue appends the value of the current entry to dst.
func (c *Cursor) AppendValue(dst []byte) ([]byte, error) {
	if c.depth == 0 {
		panic("lmdb: Value without a current entry")
	}
	leaf := &c.stack[c.depth-1]
	long := dst
	err := c.db.look(func() error {
		v, err := c.db.value(leaf.page, leaf.node)
		long = append(dst, v...)
		return err
	})
	if err != nil {
		return dst, err
	}
	return long, nil
}

// First goes to the first entry and reports whether there is one.
func (c *Cursor) First() bool { return c.move(c.first) }

// Next goes to the following entry (the first one, on a new cursor) and reports whether there is one.
func (c *Cursor) Next() bool { return c.move(c.next) }

func (c *Cursor) move(to func() bool) (ok bool) {
	err := c.db.look(func() error {
		ok = to()
		return c.err
	})
	if err != nil {
		return c.fail(err)
	}
	return ok
}

func (c *Cursor) first() bool {
	c.depth, c.key, c.begun = 0, nil, true
	return c.err == nil && c.descend(c.db.meta.main.root)
}

func (c *Cursor) next() bool {
	switch {
	case c.err != nil:
		return false
	case !c.begun:
		return c.first()
	case c.depth == 0:
		return false
	}
	c.stack[c.depth-1].node++
	return c.settle()
}

// descend goes from page pgno, the child of the node at the top of the stack, down to the first entry of a leaf.
func (c *Cursor) descend(pgno uint64) bool {
	if pgno == noPage {
		return false
	}
	depth := int(c.db.meta.main.depth)
	for c.depth < depth {
		kind := uint16(flagBranch)
		if c.depth == depth-1 {
			kind = flagLeaf
		}
		p, err := c.db.page(pgno, kind)
		if err != nil {
			return c.fail(err)
		}
		c.stack[c.depth] = level{page: p}
		c.depth++
		if kind == flagBranch {
			if pgno, err = c.db.child(p, 0); err != nil {
				return c.fail(err)
			}
		}
	}
	return c.settle()
}

// settle makes the node at the top of the stack the current entry. At the end of a leaf it goes to the first entry of the next
// leaf.
func (c *Cursor) settle() bool {
	if leaf := &c.stack[c.depth-1]; leaf.node < leaf.page.nodes {
		_, key, err := c.db.node(leaf.page, leaf.node)
		if err != nil {
			return c.fail(err)
		}
		if c.key != nil && bytes.Compare(c.key, key) >= 0 {
			return c.fail(c.db.corrupt(leaf.page.number, "key %q of node %d does not come after key %q", key, leaf.node, c.key))
		}
		c.own = append(c.own[:0], key...)
		c.key = c.own
		return true
	}
	for c.depth--; c.depth > 0; c.depth-- {
		top := &c.stack[c.depth-1]
		if top.node++; top.node < top.page.nodes {
			pgno, err := c.db.child(top.page, top.node)
			if err != nil {
				return c.fail(err)
			}
			return c.descend(pgno)
		}
	}
	c.key = nil
	return false
}

func (c *Cursor) fail(err error) bool {
	c.err, c.depth, c.key = err, 0, nil
	return false
}
