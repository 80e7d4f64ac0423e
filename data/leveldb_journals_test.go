package data

import (
	"archive/zip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/journal"
)

// unpackLevelDBs unpacks the databases that LevelDB itself wrote; testdata/leveldb/make.cc says what they hold.
func unpackLevelDBs(t *testing.T) string {
	t.Helper()
	archive, err := zip.OpenReader("testdata/leveldb/databases.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	dir := t.TempDir()
	if err := os.CopyFS(dir, archive); err != nil {
		t.Fatal(err)
	}
	return dir
}

// fingerprint sums up the names and contents of a folder.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%s %d\n%s", f.Name(), len(b), b)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// readOnce returns the entries of a LevelDB, and leaves its folder as it was.
func readOnce(t *testing.T, dir string) (keys, values []string) {
	t.Helper()
	before := fingerprint(t, dir)
	d, err := openLevelDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := newLevelEntries(d)
	if err != nil {
		t.Fatal(err)
	}
	for ok := e.First(); ok; ok = e.Next() {
		keys, values = append(keys, string(e.Key())), append(values, string(e.Iterator.Value()))
	}
	if err := errors.Join(e.Err(), e.Close()); err != nil {
		t.Fatal(err)
	}
	if fingerprint(t, dir) != before {
		t.Errorf("%s has other files after it was read", dir)
	}
	return keys, values
}

// TestJournalsOfLevelDB: all records of databases that LevelDB left with up to three journals are read, the newest for each key.
// If a table was finished after a journal began, the manifest's sequence number exceeds those of the journal's records.
func TestJournalsOfLevelDB(t *testing.T) {
	dir := unpackLevelDBs(t)
	for journals := range 4 {
		for _, kind := range []string{"plain", "snappy"} {
			name := fmt.Sprintf("%d_%s", journals, kind)
			keys, values := readOnce(t, filepath.Join(dir, name))
			at := 0
			for i := range 200 {
				version := 1
				switch {
				case journals >= 2 && i == 10:
					continue // deleted
				case journals >= 2 && i >= 80:
					version = 3
				case i >= 50 && i < 100:
					version = 2
				}
				if at == len(keys) {
					t.Fatalf("%s: it ends before key %d", name, i)
				}
				if want := strings.Repeat(fmt.Sprintf("value %d version %d ", i, version), 30); keys[at] != fmt.Sprintf("key%05d", i) || values[at] != want {
					t.Fatalf("%s: entry %d is %s, %.40q, want key %d, %.40q", name, at, keys[at], values[at], i, want)
				}
				at++
			}
			if at != len(keys) {
				t.Errorf("%s: %d entries, want %d", name, len(keys), at)
			}
		}
	}
}

// TestJournalsOfOurs: databases closed by goleveldb, with one journal or two, are read completely.
func TestJournalsOfOurs(t *testing.T) {
	seen := map[int]bool{}
	for try := 0; try < 40 && !seen[2]; try++ {
		dir := filepath.Join(t.TempDir(), "db")
		db, err := leveldb.OpenFile(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		const n = 5000
		for i := range n {
			if err := db.Put(fmt.Appendf(nil, "%08d", i), fmt.Append(nil, i, strings.Repeat("x", 1000)), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
		seen[len(logs)] = true
		keys, values := readOnce(t, dir)
		if len(keys) != n {
			t.Fatalf("%d journals: %d entries, want %d", len(logs), len(keys), n)
		}
		for i := range n {
			if keys[i] != fmt.Sprintf("%08d", i) || values[i] != fmt.Sprint(i)+strings.Repeat("x", 1000) {
				t.Fatalf("%d journals: entry %d is %s, %.20q", len(logs), i, keys[i], values[i])
			}
		}
	}
	t.Logf("numbers of journals: %v", seen)
}

// TestTornJournal: an incomplete record at the end of a journal is dropped, and the following journal is read completely.
func TestTornJournal(t *testing.T) {
	dir := filepath.Join(unpackLevelDBs(t), "2_plain")
	log := filepath.Join(dir, "000010.log")
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := readOnce(t, dir)
	for cut := range 900 { // more than a record
		if cut > 20 && cut%37 != 0 {
			continue
		}
		if err := os.WriteFile(log, whole[:len(whole)-cut], 0o644); err != nil {
			t.Fatal(err)
		}
		keys, values := readOnce(t, dir)
		if len(keys) != len(all) || !strings.Contains(values[len(values)-1], "version 3") {
			t.Fatalf("cut by %d bytes: %d keys, want %d, the last %.20q", cut, len(keys), len(all), values[len(values)-1])
		}
	}
}

// TestManifestLengths: a length beyond the manifest's record is an error, and allocates no buffer of this length.
func TestManifestLengths(t *testing.T) {
	dir := filepath.Join(unpackLevelDBs(t), "1_plain")
	file, err := os.Create(filepath.Join(dir, "MANIFEST-000002"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := journal.NewWriter(file)
	record, err := w.Next()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.Write([]byte{manifestComparer, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x08, 'x'}); err != nil { // 2^45 bytes
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDB(levelParam(dir)); err == nil || !strings.Contains(err.Error(), "record 0 of the manifest is damaged") || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
}

// TestMergedJournals: a merged journal is read like any other, by pieces of any length.
func TestMergedJournals(t *testing.T) {
	d := levelDir{path: filepath.Join(unpackLevelDBs(t), "2_plain")}
	live, err := d.liveJournals()
	if err != nil || len(live) != 2 {
		t.Fatalf("%v, %v: want two journals", live, err)
	}
	var whole []byte
	for _, piece := range []int{1 << 20, 1000, 1} {
		m := &mergedJournals{dir: d, rest: live}
		var got []byte
		buf := make([]byte, piece)
		for {
			n, err := m.Read(buf)
			got = append(got, buf[:n]...)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if whole == nil {
			whole = got
		}
		if len(whole) < 60000 || string(got) != string(whole) {
			t.Errorf("pieces of %d bytes: %d bytes, want the %d of before", piece, len(got), len(whole))
		}
	}
}
