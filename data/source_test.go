package data

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// writeLevelDB makes a database of n entries. table moves all of them from the log to sorted tables.
func writeLevelDB(t testing.TB, n int, table bool) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "train_leveldb")
	db, err := leveldb.OpenFile(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := db.Put(fmt.Appendf(nil, "%08d", i), fmt.Appendf(nil, "value %d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if table {
		if err := db.CompactRange(util.Range{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sources returns the same n entries in every kind of database.
func sources(t *testing.T, n int) map[string]*caffepb.DataParameter {
	var values [][]byte
	for i := range n {
		values = append(values, fmt.Appendf(nil, "value %d", i))
	}
	return map[string]*caffepb.DataParameter{
		"lmdb":          lmdbParam(writeLMDB(t, values...)),
		"leveldb log":   levelParam(writeLevelDB(t, n, false)),
		"leveldb table": levelParam(writeLevelDB(t, n, true)),
	}
}

func TestSourceWrapsAndSeeks(t *testing.T) {
	const n = 23
	for name, p := range sources(t, n) {
		t.Run(name, func(t *testing.T) {
			s, err := OpenDB(p)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var r Record
			expect := func(item int) {
				t.Helper()
				if err := s.Next(&r); err != nil {
					t.Fatal(err)
				}
				if want := fmt.Sprintf("value %d", item%n); string(r.Raw) != want || string(r.Key) != fmt.Sprintf("%08d", item%n) {
					t.Fatalf("item %d: key %q, value %q", item, r.Key, r.Raw)
				}
			}
			for _, at := range []int{5, 0, n - 1, n, n + 1, 3, 1000*n + 7, 10, 10 * n} {
				if err := s.Seek(uint64(at)); err != nil {
					t.Fatal(err)
				}
				for i := range 2*n + 1 {
					expect(at + i)
				}
			}
		})
	}
}

func TestSourceErrors(t *testing.T) {
	empty, text := t.TempDir(), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(text, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		param *caffepb.DataParameter
		want  string
	}{
		{"no source", &caffepb.DataParameter{}, "source is not set"},
		{"lmdb missing", lmdbParam("/no/such/db"), "/no/such/db"},
		{"lmdb empty", lmdbParam(writeLMDB(t)), "no entries"},
		{"lmdb of text", lmdbParam(text), text},
		{"leveldb missing", levelParam("/no/such/db"), "/no/such/db"},
		{"leveldb without files", levelParam(empty), empty},
		{"leveldb empty", levelParam(writeLevelDB(t, 0, false)), "no entries"},
		{"leveldb is a file", levelParam(text), "not a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := OpenDB(c.param)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// Reading must leave a LevelDB as it is, even without a lock file, since users' databases may be on read-only media.
func TestLevelDBIsNotTouched(t *testing.T) {
	dir := writeLevelDB(t, 100, true)
	for _, f := range []string{"LOCK", "LOG"} {
		if err := os.Remove(filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	tables, _ := filepath.Glob(filepath.Join(dir, "*.ldb"))
	if len(tables) == 0 {
		t.Fatal("no table to rename")
	}
	for _, f := range tables { // the older name
		if err := os.Rename(f, strings.TrimSuffix(f, "ldb")+"sst"); err != nil {
			t.Fatal(err)
		}
	}
	list := func() string {
		var s strings.Builder
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&s, f.Name(), info.Size(), info.ModTime())
		}
		return s.String()
	}
	before := list()
	s, err := OpenDB(levelParam(dir))
	if err != nil {
		t.Fatal(err)
	}
	var r Record
	for range 150 {
		if err := s.Next(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if after := list(); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// TestLevelDBCorruption damages every table, since compaction may have left an old one behind that nobody reads.
func TestLevelDBCorruption(t *testing.T) {
	dir := writeLevelDB(t, 5000, true)
	tables, _ := filepath.Glob(filepath.Join(dir, "*.ldb"))
	for _, table := range tables {
		b, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(b) / 3; i < len(b)/3+50; i++ {
			b[i] ^= 0x55
		}
		if err := os.WriteFile(table, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := OpenDB(levelParam(dir))
	if err == nil {
		defer s.Close()
		var r Record
		for i := 0; err == nil && i < 5000; i++ {
			err = s.Next(&r)
		}
	}
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want one that names %s", err, dir)
	}
}

// TestLevelDBFooter: a footer, the one part of a table without a checksum, that leads out of the file is an error that
// names the block, before a buffer of that length is made.
func TestLevelDBFooter(t *testing.T) {
	dir := writeLevelDB(t, 300, true)
	tables, _ := filepath.Glob(filepath.Join(dir, "*.ldb")) // one that a compaction has replaced may be among them
	good := make([][]byte, len(tables))
	for i, table := range tables {
		var err error
		if good[i], err = os.ReadFile(table); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		handles []byte
		want    string
	}{
		{binary.AppendUvarint([]byte{0}, 1<<40), "metaindex block is 1099511627776 bytes at 0"},
		{binary.AppendUvarint([]byte{0, 1}, 1<<63), "index block is"},
		{bytes.Repeat([]byte{0xff}, 11), "does not say where the metaindex block is"},
		{append([]byte{0, 1}, bytes.Repeat([]byte{0xff}, 11)...), "does not say where the index block is"},
	} {
		for i, table := range tables {
			bad := bytes.Clone(good[i])
			copy(bad[len(bad)-48:], append(tt.handles, 1))
			if err := os.WriteFile(table, bad, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := OpenDB(levelParam(dir))
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("footer % x: error %v, want one with %s and %q", tt.handles, err, dir, tt.want)
		}
	}
}
