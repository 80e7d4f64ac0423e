// Package lmdb reads and writes LMDB databases, the format of Caffe's training data, without liblmdb. A DB reads, with Cursors; a
// Writer writes.
//
// Open maps the file and reads the B+tree of the main database: any page size, any depth, values on overflow pages. It takes a
// slot in liblmdb's table of readers (reader_linux.go), so that other processes may write meanwhile. Every page number, offset
// and length is checked before use. A damaged file gives an error with the file, the page and the fault. Keys must ascend, so no
// damaged tree is read for ever.
//
// Create starts a Writer. It takes entries with ascending keys and builds the tree bottom up. liblmdb can read the result and
// write to it.
//
// Unsupported features give an error: named databases, duplicate keys, databases with another key order, and big-endian files.
//
// The format is LMDB 0.9's on 64-bit machines (data version 1), all numbers little-endian:
//
//	page      pgno u64, pad u16, flags u16, lower u16, upper u16 (on overflow pages: pages u32), then
//	          (lower-16)/2 offsets u16 of nodes; the nodes fill the page from its end down to upper
//	node      lo u16, hi u16, flags u16, ksize u16, key, then on leaves the value of lo|hi<<16 bytes, or with flag
//	          bigData the u64 number of its first overflow page; on branches the child is lo|hi<<16|flags<<32
//	meta      pages 0 and 1; the one with the larger txnid holds: magic u32, version u32, address u64, mapsize u64,
//	          free database, main database, last page u64, txnid u64
//	database  pad u32 (of the free database: the page size), flags u16, depth u16, branch pages u64, leaf pages u64,
//	          overflow pages u64, entries u64, root u64
package lmdb

import (
	"encoding/binary"
	"fmt"
)

const (
	pageHeader  = 16
	nodeHeader  = 8
	metaSize    = 136
	metaMagic   = 0xBEEFC0DE
	dataVersion = 1
	noPage      = ^uint64(0)
	maxDepth    = 32
	minPageSize = 256
	maxPageSize = 32768

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagOverflow = 0x04
	flagMeta     = 0x08
	// pageKind masks the flags for the kind of a page. The other flags have a meaning only in liblmdb's memory.
	pageKind = 0x6f

	nodeBigData = 0x01

	// MaxKeySize is liblmdb's limit on the length of a key.
	MaxKeySize = 511
	dataFile   = "data.mdb"
	lockFile   = "lock.mdb"
)

var le = binary.LittleEndian

// tree is the description of one database in a meta page.
type tree struct {
	flags, depth           uint16
	branch, leaf, overflow uint64
	entries, root          uint64
}

func readTree(b []byte) tree {
	return tree{
		flags: le.Uint16(b[4:]), depth: le.Uint16(b[6:]),
		branch: le.Uint64(b[8:]), leaf: le.Uint64(b[16:]), overflow: le.Uint64(b[24:]),
		entries: le.Uint64(b[32:]), root: le.Uint64(b[40:]),
	}
}

func (t tree) put(b []byte, pad uint32) {
	le.PutUint32(b, pad)
	le.PutUint16(b[4:], t.flags)
	le.PutUint16(b[6:], t.depth)
	le.PutUint64(b[8:], t.branch)
	le.PutUint64(b[16:], t.leaf)
	le.PutUint64(b[24:], t.overflow)
	le.PutUint64(b[32:], t.entries)
	le.PutUint64(b[40:], t.root)
}

// meta is the content of a meta page.
type meta struct {
	number   uint64 // page number
	pageSize int
	mapSize  uint64
	main     tree
	lastPage uint64
	txn      uint64
}

// readMeta decodes the meta page that starts at b[0].
func readMeta(b []byte) (meta, error) {
	if len(b) < pageHeader+metaSize {
		return meta{}, fmt.Errorf("the file ends early: a meta page needs %d bytes, %d are left", pageHeader+metaSize, len(b))
	}
	if flags := le.Uint16(b[10:]); flags&flagMeta == 0 {
		return meta{}, fmt.Errorf("not a meta page (flags %#x)", flags)
	}
	b = b[pageHeader:]
	if magic := le.Uint32(b); magic != metaMagic {
		return meta{}, fmt.Errorf("not an LMDB file: magic number %#x, must be %#x", magic, uint32(metaMagic))
	}
	if v := le.Uint32(b[4:]); v != dataVersion {
		return meta{}, fmt.Errorf("LMDB data version %d, only %d is supported", v, dataVersion)
	}
	m := meta{
		pageSize: int(le.Uint32(b[24:])),
		mapSize:  le.Uint64(b[16:]),
		main:     readTree(b[72:]),
		lastPage: le.Uint64(b[120:]),
		txn:      le.Uint64(b[128:]),
	}
	if m.pageSize < minPageSize || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0 {
		return meta{}, fmt.Errorf("page size %d is not a power of two from %d to %d", m.pageSize, minPageSize, maxPageSize)
	}
	return m, nil
}

// put writes m as meta page number pgno into a zeroed page.
func (m meta) put(b []byte, pgno uint64) {
	le.PutUint64(b, pgno)
	le.PutUint16(b[10:], flagMeta)
	b = b[pageHeader:]
	le.PutUint32(b, metaMagic)
	le.PutUint32(b[4:], dataVersion)
	le.PutUint64(b[16:], m.mapSize)
	tree{root: noPage}.put(b[24:], uint32(m.pageSize))
	m.main.put(b[72:], 0)
	le.PutUint64(b[120:], m.lastPage)
	le.PutUint64(b[128:], m.txn)
}

// maxNode is the size of the largest node on a leaf, header included. Longer values go to overflow pages. Two nodes must fit on a
// page.
const maxNode = (writePageSize-pageHeader)/2&^1 - 2

// overflowPages is the number of pages for a value of n bytes. Only the first page has a header.
func overflowPages(n, pageSize int) int { return (pageHeader-1+n)/pageSize + 1 }
