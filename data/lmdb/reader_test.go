//go:build linux && (amd64 || arm64)

package lmdb

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// versioned are entries of which every value consists of the version.
func versioned(n, version int) []entry {
	es := make([]entry, n)
	for i := range es {
		es[i] = entry{fmt.Appendf(nil, "%08d", i), bytes.Repeat([]byte{byte(version)}, 100+i*i%9001)}
	}
	return es
}

// contents reads a database once, and fails on a value that is not whole.
func contents(db *DB) (string, error) {
	var all strings.Builder
	c := db.Cursor()
	for c.Next() {
		v, err := c.Value()
		if err != nil {
			return "", err
		}
		if len(v) == 0 || !bytes.Equal(v, bytes.Repeat(v[:1], len(v))) {
			return "", fmt.Errorf("key %q has bytes of several versions", c.Key())
		}
		fmt.Fprintf(&all, "%s %d %d\n", c.Key(), v[0], len(v))
	}
	return all.String(), c.Err()
}

// writing overwrites all entries with liblmdb, again and again, until stop is called.
func writing(t *testing.T, dir string, n int) (stop func() (rounds int)) {
	load := tool(t, "mdb_load")
	quit, done := make(chan struct{}), make(chan int)
	go func() {
		rounds := 0
		for ; ; rounds++ {
			select {
			case <-quit:
				done <- rounds
				return
			default:
			}
			cmd := exec.Command(load, dir)
			cmd.Stdin = bytes.NewReader(dumpFormat(versioned(n, rounds%200+2)))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("mdb_load: %v\n%s", err, out)
				<-quit
				done <- rounds
				return
			}
		}
	}()
	return func() int { close(quit); return <-done }
}

// TestReadsWhileLiblmdbWrites: what was opened stays as it was, however often liblmdb overwrites it, and every opening meets a whole commit.
func TestReadsWhileLiblmdbWrites(t *testing.T) {
	const n = 500
	dir := filepath.Join(t.TempDir(), "db")
	write(t, dir, versioned(n, 1))
	long, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer long.Close()
	first, err := contents(long)
	if err != nil {
		t.Fatal(err)
	}
	stop := writing(t, dir, n)
	opened, other := 0, 0
	for begun := time.Now(); time.Since(begun) < 2*time.Second; opened++ {
		db, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		var was string
		for pass := range 3 {
			is, err := contents(db)
			if err != nil {
				t.Fatal(err)
			}
			if pass > 0 && is != was {
				t.Fatalf("pass %d reads something else", pass)
			}
			was = is
		}
		if was != first {
			other++
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if again, err := contents(long); err != nil || again != first {
			t.Fatalf("what was opened first has changed: %v", err)
		}
	}
	rounds := stop()
	if rounds < 2 || other == 0 {
		t.Errorf("%d rounds of writing, %d of %d openings met one: too few to say anything", rounds, other, opened)
	}
	t.Logf("%d rounds of writing, %d openings", rounds, opened)
}

// TestWritesWithoutSlot: without a slot, one commit by another process does no harm, and more commits are an error that says so.
func TestWritesWithoutSlot(t *testing.T) {
	load := tool(t, "mdb_load")
	dir, alias := filepath.Join(t.TempDir(), "db"), t.TempDir()
	write(t, dir, versioned(50, 1))
	if err := os.Link(filepath.Join(dir, dataFile), filepath.Join(alias, dataFile)); err != nil {
		t.Skip("no hard links here:", err)
	}
	if err := os.Mkdir(filepath.Join(alias, lockFile), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := Open(alias)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for round := range 3 {
		_, err := contents(db)
		switch {
		case round < 2 && err != nil:
			t.Errorf("after %d commits: %v", round, err)
		case round == 2 && (err == nil || !strings.Contains(err.Error(), "transaction 1 when it was opened, 3 now") || !strings.Contains(err.Error(), "is a directory")):
			t.Errorf("after %d commits: %v", round, err)
		}
		run(t, load, dumpFormat(versioned(50, round+2)), dir)
	}
}

// TestReadOnlyFolder: where nothing can be written nothing is, and the database is read.
func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := filepath.Join(t.TempDir(), "db")
	es := versioned(50, 1)
	write(t, dir, es)
	if err := os.Remove(filepath.Join(dir, lockFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	checkAll(t, dir, es)
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files: %v", left)
	}
}

// readers is the table as mdb_stat prints it; -rr clears it of dead processes. mdb_stat ends with 1 where there are readers.
func readers(t *testing.T, dir, option string) string {
	out, _ := exec.Command(tool(t, "mdb_stat"), option, dir).CombinedOutput()
	if !strings.Contains(string(out), "Reader Table Status") {
		t.Fatalf("mdb_stat %s: %s", option, out)
	}
	return string(out)
}

func has(table string, pid int) bool {
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == fmt.Sprint(pid) {
			return true
		}
	}
	return false
}

// TestLiblmdbSeesReaders: liblmdb lists our slots while a database is open, several for several openings, and none afterwards. It
// clears the slots of a killed process, but not those of a living one.
func TestLiblmdbSeesReaders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	write(t, dir, versioned(50, 1))
	db, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	second, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(readers(t, dir, "-r"), fmt.Sprint(os.Getpid())); n != 2 {
		t.Errorf("%d slots of ours, want 2", n)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	child, _ := helper(t, "open", dir)
	if table := readers(t, dir, "-rr"); !has(table, os.Getpid()) || !has(table, child.Process.Pid) {
		t.Errorf("no readers %d and %d:\n%s", os.Getpid(), child.Process.Pid, table)
	}
	child.Process.Kill()
	child.Wait()
	if table := readers(t, dir, "-r"); !has(table, child.Process.Pid) {
		t.Errorf("no reader %d, which was killed:\n%s", child.Process.Pid, table)
	}
	table := readers(t, dir, "-rr")
	if !strings.Contains(table, "1 stale readers cleared") || !has(table, os.Getpid()) {
		t.Errorf("want one stale reader cleared, and %d there:\n%s", os.Getpid(), table)
	}
	if table := readers(t, dir, "-r"); has(table, child.Process.Pid) || !has(table, os.Getpid()) {
		t.Errorf("want reader %d alone:\n%s", os.Getpid(), table)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if table := readers(t, dir, "-r"); has(table, os.Getpid()) {
		t.Errorf("a reader after Close:\n%s", table)
	}
}

// TestFullTable: slots of dead processes make room; a table of living ones is full, and the database is read without a slot.
func TestFullTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	write(t, dir, versioned(50, 1))
	db, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	child, _ := helper(t, "open", dir)
	most := (len(db.reader.table) - slotsAt) / slotSize
	for len(db.reader.table) > 0 {
		more, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer more.Close()
		if more.reader == nil {
			if want := fmt.Sprintf("all %d slots", most); !strings.Contains(more.unlocked.Error(), want) {
				t.Errorf("got %v, want %q", more.unlocked, want)
			}
			break
		}
	}
	child.Process.Kill()
	child.Wait()
	last, err := Open(dir)
	if err != nil || last.reader == nil {
		t.Fatalf("no slot after another process has died: %v, %v", err, last.unlocked)
	}
	last.Close()
}

// TestMutexOfTheDead: if a process is killed while it holds the table's mutex, other processes, ours and liblmdb's, get the
// mutex. A living owner makes them wait.
func TestMutexOfTheDead(t *testing.T) {
	for _, ours := range []bool{true, false} {
		for _, killed := range []bool{true, false} {
			dir := filepath.Join(t.TempDir(), "db")
			write(t, dir, versioned(50, 1))
			child, in := helper(t, "hold", dir)
			dump := tool(t, "mdb_dump")
			opened := make(chan error, 1)
			go func() {
				if !ours {
					opened <- exec.Command(dump, dir).Run()
					return
				}
				db, err := Open(dir)
				if err == nil {
					err = errors.Join(db.unlocked, db.Close())
				}
				opened <- err
			}()
			select {
			case err := <-opened:
				t.Fatalf("it did not wait (%v)", err)
			case <-time.After(100 * time.Millisecond):
			}
			if killed {
				child.Process.Kill()
			} else {
				in.Close()
			}
			child.Wait()
			if err := <-opened; err != nil {
				t.Errorf("ours %v, killed %v: %v", ours, killed, err)
			}
		}
	}
}

const helperVariable = "SWCAFFE_LMDB_HELPER"

// helper starts a process that opens a database, or holds the mutex of its table of readers, and returns when it does. It ends when in is closed.
func helper(t *testing.T, what, dir string) (cmd *exec.Cmd, in io.Closer) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "-test.run=^TestHelper$")
	cmd.Env = append(os.Environ(), helperVariable+"="+what+" "+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, stdin
}

// TestHelper is the process that helper starts.
func TestHelper(t *testing.T) {
	what, dir, is := strings.Cut(os.Getenv(helperVariable), " ")
	if !is {
		return
	}
	db, err := Open(dir)
	if err != nil || db.reader == nil {
		fmt.Println(err, db.unlocked)
		os.Exit(1)
	}
	ready := func() error {
		fmt.Println("ready")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	if what == "hold" {
		err = lockedMutex(db.reader.table[mutexAt:], ready)
	} else {
		err = ready()
	}
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}
