package conformance

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCasesAreTheOracles: cases.zip holds what oracle.py writes.
func TestCasesAreTheOracles(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: the cases are run, but not computed again")
	}
	written := filepath.Join(t.TempDir(), "cases.zip")
	if out, err := exec.Command(python, "oracle/oracle.py", written).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	again, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	got, want := contents(t, archive), contents(t, again)
	for name, data := range want {
		if got[name] != data {
			t.Errorf("%s is another: run python3 oracle/oracle.py cases.zip", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, the oracle writes %d", len(got), len(want))
	}
}

func contents(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range r.File {
		data, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(data); err != nil {
			t.Fatal(err)
		}
		files[f.Name] = b.String()
	}
	return files
}

// TestDatabasesAreLMDBs: LMDB's own tool reads the databases that the oracle wrote byte by byte.
func TestDatabasesAreLMDBs(t *testing.T) {
	dump, err := exec.LookPath("mdb_dump")
	if err != nil {
		t.Skip("mdb_dump is not installed (Debian package lmdb-utils)")
	}
	for dir, records := range map[string]int{"data_lmdb": 4, "data_lmdb_long_values": 2} {
		db := filepath.Join(Own(t, dir)[0], "db")
		out, err := exec.Command(dump, db).Output()
		if err != nil {
			t.Fatal(err)
		}
		_, data, _ := bytes.Cut(out, []byte("HEADER=END\n"))
		if lines := bytes.Count(data, []byte("\n ")) + 1; lines != 2*records {
			t.Errorf("%s: %d keys and values, want %d", dir, lines, 2*records)
		}
	}
}
