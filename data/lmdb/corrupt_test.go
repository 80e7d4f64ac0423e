package lmdb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readAll walks over a whole database in the given file and reads every value.
func readAll(file string) (n int, err error) {
	db, err := Open(file)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	c := db.Cursor()
	for ok := c.First(); ok; ok = c.Next() {
		if _, err := c.Value(); err != nil {
			return n, err
		}
		n++
	}
	return n, c.Err()
}

// sample returns the bytes of a database with a branch root, leaves and overflow pages.
func sample(t testing.TB) []byte {
	dir := filepath.Join(t.TempDir(), "db")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries(120, func(i int) int { return i * i % 5001 }) {
		if err := w.Put(e.key, e.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, dataFile))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCorruption(t *testing.T) {
	good := sample(t)
	m, err := readMeta(good[writePageSize:])
	if err != nil {
		t.Fatal(err)
	}
	root := int(m.main.root)
	page := func(b []byte, n int) []byte { return b[n*writePageSize : (n+1)*writePageSize] }
	node := func(p []byte, i int) []byte { return p[le.Uint16(p[pageHeader+2*i:]):] }
	leafOf := func(b []byte) int { return int(le.Uint16(node(page(b, root), 0))) }
	big := func(b []byte) []byte { // the last entry's node: value 119*119 mod 5001 = 4159 bytes
		p := page(b, root)
		p = page(b, int(le.Uint16(node(p, int(le.Uint16(p[12:])-pageHeader)/2-1))))
		return node(p, int(le.Uint16(p[12:])-pageHeader)/2-1)
	}
	for _, c := range []struct {
		name, want string
		break_     func(b []byte) []byte
	}{
		{"empty file", "empty", func(b []byte) []byte { return nil }},
		{"short file", "page 0: the file ends early: a meta page needs 152 bytes, 100 are left", func(b []byte) []byte { return b[:100] }},
		{"magic", "page 0: not an LMDB file: magic number 0x1", func(b []byte) []byte { le.PutUint32(b[16:], 1); return b }},
		{"version", "page 1: LMDB data version 9", func(b []byte) []byte { le.PutUint32(page(b, 1)[20:], 9); return b }},
		{"page size", "page size 5000 is not a power of two", func(b []byte) []byte { le.PutUint32(b[40:], 5000); return b }},
		{"depth", "page 1: tree depth 99", func(b []byte) []byte { le.PutUint16(page(b, 1)[16+72+6:], 99); return b }},
		{"no root", "page 1: 120 entries but no root page", func(b []byte) []byte { le.PutUint64(page(b, 1)[16+72+40:], noPage); return b }},
		{"root beyond the end", "page 77777: referred to, but data pages are 2..", func(b []byte) []byte {
			le.PutUint64(page(b, 1)[16+72+40:], 77777)
			return b
		}},
		{"truncated", "the file ends early", func(b []byte) []byte { return b[:root*writePageSize] }},
		{"page zeroed", "its header has page number 0", func(b []byte) []byte { clear(page(b, root)); return b }},
		{"root is a leaf", "branch page expected", func(b []byte) []byte { page(b, root)[10] = flagLeaf; return b }},
		{"cycle", "leaf page expected", func(b []byte) []byte { le.PutUint16(node(page(b, root), 0), uint16(root)); return b }},
		{"same leaf twice", "does not come after key", func(b []byte) []byte {
			copy(node(page(b, root), 1)[:6], node(page(b, root), 0)[:6])
			return b
		}},
		{"same key twice", "does not come after key", func(b []byte) []byte {
			p := page(b, leafOf(b))
			copy(p[pageHeader+2:], p[pageHeader:pageHeader+2])
			return b
		}},
		{"free space", "free space from 9999 to", func(b []byte) []byte { le.PutUint16(page(b, root)[12:], 9999); return b }},
		{"free space begins in the header", "free space from 14 to", func(b []byte) []byte { le.PutUint16(page(b, root)[12:], 14); return b }},
		{"free space at an odd byte", "free space from 19 to", func(b []byte) []byte { le.PutUint16(page(b, root)[12:], 19); return b }},
		{"free space beyond the page", "to 4098 in a page of 4096 bytes", func(b []byte) []byte { le.PutUint16(page(b, root)[14:], 4098); return b }},
		{"child of 48 bits", "page 4295032832: referred to", func(b []byte) []byte {
			copy(node(page(b, root), 0), []byte{0, 0, 1, 0, 1, 0})
			return b
		}},
		{"no nodes", "page without nodes", func(b []byte) []byte { le.PutUint16(page(b, leafOf(b))[12:], pageHeader); return b }},
		{"node offset", "node 3 at offset 5, outside", func(b []byte) []byte { le.PutUint16(page(b, leafOf(b))[pageHeader+6:], 5); return b }},
		{"key length", "key of node 0 has 60000 bytes", func(b []byte) []byte { le.PutUint16(node(page(b, leafOf(b)), 0)[6:], 60000); return b }},
		{"value length", "value of node 0 has 65535 bytes", func(b []byte) []byte { le.PutUint16(node(page(b, leafOf(b)), 0), 65535); return b }},
		{"node flags", "has flags 0x2", func(b []byte) []byte { le.PutUint16(node(page(b, leafOf(b)), 0)[4:], 2); return b }},
		{"overflow page", "referred to, but data pages are 2..", func(b []byte) []byte {
			n := big(b)
			le.PutUint64(n[nodeHeader+le.Uint16(n[6:]):], 1<<60)
			return b
		}},
		{"overflow is a leaf", "overflow page expected", func(b []byte) []byte {
			n := big(b)
			le.PutUint64(n[nodeHeader+le.Uint16(n[6:]):], uint64(leafOf(b)))
			return b
		}},
		{"overflow too long", "pages wanted, but the file ends", func(b []byte) []byte { le.PutUint16(big(b)[2:], 0xffff); return b }},
		{"overflow beyond the end", "50 pages wanted, but the file ends", func(b []byte) []byte { le.PutUint16(big(b)[2:], 3); return b }},
		{"overflow count", "but the value of", func(b []byte) []byte {
			n := big(b)
			le.PutUint32(page(b, int(le.Uint64(n[nodeHeader+le.Uint16(n[6:]):])))[12:], 0)
			return b
		}},
		{"duplicates", "database flags 0x4", func(b []byte) []byte { le.PutUint16(page(b, 1)[16+72+4:], 4); return b }},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "data.mdb")
			if err := os.WriteFile(file, c.break_(append([]byte{}, good...)), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := readAll(file)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("error %v, want %q and the file's name", err, c.want)
			}
		})
	}
}

// FuzzReader overwrites bytes of a good database: the reader may return anything, but must not panic or hang.
func FuzzReader(f *testing.F) {
	good := sample(f)
	f.Add(uint32(0), []byte{}, uint32(0))
	f.Add(uint32(4096+16+72), []byte{1, 2, 3}, uint32(7))
	f.Add(uint32(8192), []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, uint32(5000))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut uint32) {
		b := append([]byte{}, good...)
		copy(b[int(at)%len(b):], patch)
		b = b[:len(b)-int(cut)%len(b)]
		file := filepath.Join(dir, "data.mdb")
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		readAll(file)
	})
}
