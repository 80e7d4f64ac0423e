package lmdb

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

type entry struct{ key, value []byte }

// entries makes n entries with ascending keys; sizes gives the length of value i.
func entries(n int, sizes func(i int) int) []entry {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	es := make([]entry, n)
	for i := range es {
		v := make([]byte, sizes(i))
		for j := range v {
			v[j] = byte(r.Uint32())
		}
		es[i] = entry{fmt.Appendf(nil, "%08d_item", i), v}
	}
	return es
}

func write(t *testing.T, dir string, es []entry) {
	t.Helper()
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if err := w.Put(e.key, e.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func checkAll(t *testing.T, dir string, es []entry) {
	t.Helper()
	db, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if db.Len() != len(es) {
		t.Errorf("Len() = %d, want %d", db.Len(), len(es))
	}
	c, i := db.Cursor(), 0
	for ok := c.First(); ok; ok = c.Next() {
		if i >= len(es) {
			t.Fatalf("entry %q after the last", c.Key())
		}
		v, err := c.Value()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(c.Key(), es[i].key) || !bytes.Equal(v, es[i].value) {
			t.Fatalf("entry %d: key %q with %d bytes, want %q with %d", i, c.Key(), len(v), es[i].key, len(es[i].value))
		}
		i++
	}
	if c.Next() || c.Err() != nil || c.Key() != nil || i != len(es) {
		t.Fatalf("%d of %d entries, then %v", i, len(es), c.Err())
	}
}

func shapes() map[string][]entry {
	limit := maxNode - nodeHeader - len("00000000_item")
	wide := make([]entry, 3000)
	for i := range wide {
		wide[i] = entry{append(bytes.Repeat([]byte{'k'}, MaxKeySize-4), fmt.Sprintf("%04d", i)...), []byte{byte(i)}}
	}
	return map[string][]entry{
		"empty":         nil,
		"one":           entries(1, func(int) int { return 5 }),
		"empty values":  entries(500, func(int) int { return 0 }),
		"inline limit":  entries(9, func(i int) int { return limit - 4 + i }),
		"overflow edge": entries(9, func(i int) int { return writePageSize - pageHeader - 4 + i }),
		"mixed":         entries(700, func(i int) int { return i * i % 9001 }),
		"deep":          entries(most(20000), func(i int) int { return 700 + i%13 }),
		"long keys":     wide,
	}
}

func TestRoundTrip(t *testing.T) {
	for name, es := range shapes() {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "db")
			write(t, dir, es)
			checkAll(t, dir, es)
			if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
				t.Errorf("temporary files left: %v", left)
			}
		})
	}
}

// TestTree looks every key up as liblmdb does, by the keys of branch pages, and holds the meta page against the pages that are in the file. Trees
// of long keys have a few nodes a page, and any number of leaves.
func TestTree(t *testing.T) {
	all := map[string][]entry{"mixed": shapes()["mixed"]}
	for _, n := range []int{0, 1, 2, 8, 9, 17, 65} { // leaves, of which a branch page holds 8
		name := fmt.Sprintf("%d long keys", 2*n)
		all[name] = nil
		for i := range 2 * n {
			all[name] = append(all[name], entry{append(bytes.Repeat([]byte{'k'}, MaxKeySize-3), fmt.Sprintf("%03d", i)...), make([]byte, 1500)})
		}
	}
	for name, es := range all {
		dir := filepath.Join(t.TempDir(), "db")
		write(t, dir, es)
		db, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		m := db.meta
		var count tree
		for pgno := uint64(2); pgno <= m.lastPage; pgno++ {
			p := db.data[pgno*writePageSize:]
			switch le.Uint16(p[10:]) {
			case flagBranch:
				count.branch++
				if p, err := db.page(pgno, flagBranch); err != nil || p.nodes < 2 {
					t.Errorf("%s: branch page of %d nodes, %v", name, p.nodes, err)
				}
			case flagLeaf:
				count.leaf++
			case flagOverflow:
				count.overflow += uint64(le.Uint32(p[12:]))
				pgno += uint64(le.Uint32(p[12:])) - 1
			}
		}
		count.entries, count.depth, count.root = uint64(len(es)), m.main.depth, m.main.root
		if count != m.main || m.lastPage+1 != uint64(len(db.data))/writePageSize {
			t.Errorf("%s: the meta page says %+v and %d pages, the file has %+v and %d bytes", name, m.main, m.lastPage+1, count, len(db.data))
		}
		if m.mapSize < 4*uint64(len(db.data)) || m.mapSize < 1<<30 || m.mapSize%writePageSize != 0 {
			t.Errorf("%s: map of %d bytes for a file of %d", name, m.mapSize, len(db.data))
		}
		for _, e := range es {
			if v, err := get(db, e.key); err != nil || !bytes.Equal(v, e.value) {
				t.Fatalf("%s: key %q has a value of %d bytes, want %d (error %v)", name, e.key, len(v), len(e.value), err)
			}
		}
		for range 2 {
			if err := db.Close(); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
		}
		for file, mode := range map[string]os.FileMode{dataFile: 0o644, lockFile: 0o644} {
			if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Mode() != mode {
				t.Errorf("%s: %s: %v, %v", name, file, info, err)
			}
		}
	}
}

// get goes down to the last node of each page, its first one aside, whose key is not behind key.
func get(db *DB, key []byte) ([]byte, error) {
	at := db.meta.main.root
	for depth := int(db.meta.main.depth); ; depth-- {
		kind := uint16(flagBranch)
		if depth == 1 {
			kind = flagLeaf
		}
		p, err := db.page(at, kind)
		if err != nil {
			return nil, err
		}
		i := p.nodes - 1
		for ; i > 0; i-- {
			if _, k, err := db.node(p, i); err != nil || bytes.Compare(k, key) <= 0 {
				break
			}
		}
		if depth == 1 {
			if _, k, err := db.node(p, i); err != nil || !bytes.Equal(k, key) {
				return nil, fmt.Errorf("the leaf has %q, %w", k, err)
			}
			return db.value(p, i)
		}
		if at, err = db.child(p, i); err != nil {
			return nil, err
		}
	}
}

// TestChildrenOf48Bits: page numbers that no test's file reaches.
func TestChildrenOf48Bits(t *testing.T) {
	var file bytes.Buffer
	w := &Writer{out: bufio.NewWriter(&file), next: 7}
	w.writeBranches([]child{{[]byte("a"), 0x060504030201}, {[]byte("b"), 0xfedcba987654}})
	w.out.Flush()
	db := &DB{}
	p := page{data: file.Bytes(), nodes: 2}
	for i, want := range []uint64{0x060504030201, 0xfedcba987654} {
		if got, err := db.child(p, i); err != nil || got != want {
			t.Errorf("child %d is page %#x, want %#x (error %v)", i, got, want, err)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Put([]byte("b"), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, want string }{
		{"", "key of 0 bytes"}, {strings.Repeat("x", 512), "key of 512 bytes"},
		{"b", `key "b" does not come after "b"`}, {"a", `key "a" does not come after "b"`},
	} {
		if err := w.Put([]byte(c.key), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Put(%.5q...) = %v, want %q", c.key, err, c.want)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir); err == nil || !strings.Contains(err.Error(), "holds a database already") {
		t.Errorf("Create over a database: %v", err)
	}
	if err := w.Put([]byte("c"), nil); err == nil {
		t.Error("Put after Close succeeded")
	}
	checkAll(t, dir, []entry{{[]byte("b"), nil}})
}

func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOpenMissing(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "nodb"), t.TempDir()} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("Open(%s) = %v", path, err)
		}
	}
}

// liblmdb's own tools must read what the writer writes, page by page, and be able to add to it.
func TestLiblmdbReads(t *testing.T) {
	dump := tool(t, "mdb_dump")
	load := tool(t, "mdb_load")
	for name, es := range shapes() {
		es = es[:min(len(es), most(5000))]
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "db")
			write(t, dir, es)
			if err := dumpMatches(run(t, dump, nil, dir), es); err != nil {
				t.Fatal(err)
			}
			more := entry{[]byte("zz"), bytes.Repeat([]byte{7}, 9000)}
			run(t, load, dumpFormat([]entry{more}), dir)
			if err := dumpMatches(run(t, dump, nil, dir), append(es[:len(es):len(es)], more)); err != nil {
				t.Fatal(err)
			}
			checkAll(t, dir, append(es[:len(es):len(es)], more))
		})
	}
}

// The reader must read what liblmdb writes.
func TestReadsLiblmdb(t *testing.T) {
	load := tool(t, "mdb_load")
	for name, es := range shapes() {
		es = es[:min(len(es), most(2000))]
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run(t, load, dumpFormat(es), dir)
			checkAll(t, dir, es)
		})
	}
}

// most bounds the number of entries; under the race detector (-short) a few hundred do.
func most(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func tool(t *testing.T, name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed (Debian package lmdb-utils): not checked against liblmdb", name)
	}
	return path
}

func run(t *testing.T, path string, in []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Stdin = bytes.NewReader(in)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, errOut.Bytes())
	}
	return out
}

// dumpFormat writes entries as mdb_dump does.
func dumpFormat(es []entry) []byte {
	var b bytes.Buffer
	b.WriteString("VERSION=3\nformat=bytevalue\ntype=btree\nmapsize=268435456\nHEADER=END\n")
	for _, e := range es {
		fmt.Fprintf(&b, " %x\n %x\n", e.key, e.value)
	}
	b.WriteString("DATA=END\n")
	return b.Bytes()
}

func dumpMatches(got []byte, es []entry) error {
	_, got, _ = bytes.Cut(got, []byte("HEADER=END\n"))
	_, want, _ := bytes.Cut(dumpFormat(es), []byte("HEADER=END\n"))
	if !bytes.Equal(got, want) {
		return fmt.Errorf("mdb_dump shows %d bytes, want %d", len(got), len(want))
	}
	return nil
}
