package data

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/journal"
)

// readLevelDB reads a database that may be damaged until its end, an error, or more entries than it can have.
func readLevelDB(dir string, most int) {
	s, err := OpenDB(levelParam(dir))
	if err != nil {
		return
	}
	defer s.Close()
	var r Record
	for range most {
		if s.Next(&r) != nil {
			return
		}
	}
}

// levelFiles returns the files of a database, by name in order.
func levelFiles(t testing.TB, dir string) (paths []string, contents [][]byte) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 0 {
			paths, contents = append(paths, path), append(contents, b)
		}
	}
	return paths, contents
}

// FuzzLevelDB damages a table.
func FuzzLevelDB(f *testing.F) {
	good := writeLevelDB(f, 300, true)
	tables, _ := filepath.Glob(filepath.Join(good, "*.ldb"))
	b, err := os.ReadFile(tables[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(10), []byte{0xff, 0xff})
	f.Add(uint32(len(b)-48), []byte{0x80, 0x80, 0x80})
	f.Fuzz(func(t *testing.T, at uint32, patch []byte) {
		bad := append([]byte{}, b...)
		copy(bad[int(at)%len(bad):], patch)
		if err := os.WriteFile(tables[0], bad, 0o644); err != nil {
			t.Fatal(err)
		}
		readLevelDB(good, 400)
	})
}

// FuzzLevelFiles damages or cuts any file: table, journal, manifest, CURRENT.
func FuzzLevelFiles(f *testing.F) {
	dir := writeLevelDB(f, 300, false)
	paths, contents := levelFiles(f, dir)
	for i := range paths {
		f.Add(uint8(i), uint32(5), []byte{0xff, 0xff}, uint32(0))
		f.Add(uint8(i), uint32(20), []byte{}, uint32(3))
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint32, patch []byte, cut uint32) {
		i := int(which) % len(paths)
		bad := bytes.Clone(contents[i])
		copy(bad[int(at)%len(bad):], patch)
		if err := os.WriteFile(paths[i], bad[:len(bad)-int(cut)%len(bad)], 0o644); err != nil {
			t.Fatal(err)
		}
		readLevelDB(dir, 400)
		if err := os.WriteFile(paths[i], contents[i], 0o644); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzLevelRecords writes records with right checksums into the manifest or a journal: what programs with faults may leave.
func FuzzLevelRecords(f *testing.F) {
	dir := writeLevelDB(f, 300, false)
	paths, contents := levelFiles(f, dir)
	for i, path := range paths {
		if fd, ok := parseLevelName(filepath.Base(path)); !ok || filepath.Ext(path) == ".ldb" {
			continue
		} else if r, err := journal.NewReader(bytes.NewReader(contents[i]), nil, true, true).Next(); err != nil {
			f.Fatal(fd, err)
		} else {
			record := &bytes.Buffer{}
			record.ReadFrom(r)
			f.Add(uint8(i), record.Bytes(), uint32(3), []byte{0xff, 0xff, 0xff, 0xff, 0x0f})
			f.Add(uint8(i), record.Bytes(), uint32(9), []byte{1})
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, record []byte, at uint32, patch []byte) {
		i := int(which) % len(paths)
		if fd, ok := parseLevelName(filepath.Base(paths[i])); !ok || filepath.Ext(fd.String()) == ".ldb" {
			return
		}
		bad := bytes.Clone(record)
		if len(bad) > 0 {
			copy(bad[int(at)%len(bad):], patch)
		}
		file := &bytes.Buffer{}
		w := journal.NewWriter(file)
		if out, err := w.Next(); err != nil {
			t.Fatal(err)
		} else if _, err := out.Write(bad); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(paths[i], file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		readLevelDB(dir, 400)
		if err := os.WriteFile(paths[i], contents[i], 0o644); err != nil {
			t.Fatal(err)
		}
	})
}
