//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// writeIDX writes images of 8 x 8 pixels and their labels, as MNIST's files, into a folder.
func writeIDX(t *testing.T, dir string, n int) {
	t.Helper()
	for name, head := range map[string][]byte{"images": {0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 8}, "labels": {0, 0, 8, 1, 0, 0, 0, 0}} {
		head[6], head[7] = byte(n>>8), byte(n)
		each := 1
		if name == "images" {
			each = 64
		}
		if err := os.WriteFile(filepath.Join(dir, name), append(head, make([]byte, n*each)...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// onlyFiles fails if a folder has something else than the given names.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if got, want := fmt.Sprint(found), fmt.Sprint(names); got != want {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

// countRecords reads a database.
func countRecords(t *testing.T, path, kind string) (n int) {
	t.Helper()
	if err := cli.EachRecord(path, kind, func(*data.Record) error { n++; return nil }); err != nil {
		t.Error(err)
	}
	return n
}

// TestConversionsAtOnce: of several conversions to one database that run at once one makes it, and the others fail and say why. What a killed
// process has left does not disturb them, and goes.
func TestConversionsAtOnce(t *testing.T) {
	const n, processes = 3000, 4
	binary := buildBinary(t)
	for round := range 6 {
		dir, kind := t.TempDir(), []string{"lmdb", "leveldb"}[round%2]
		writeIDX(t, dir, n)
		if round >= 2 {
			left := filepath.Join(dir, ".db.swcaffe-0.tmp")
			if err := os.Mkdir(left, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(left, "data.mdb"), []byte("half"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var runs []*exec.Cmd
		var logs [processes]bytes.Buffer
		for i := range processes {
			cmd := exec.Command(binary, "convert_mnist_data", "images", "labels", "db", "-backend", kind)
			cmd.Dir, cmd.Stderr = dir, &logs[i]
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			runs = append(runs, cmd)
		}
		won := 0
		for i, cmd := range runs {
			err := cmd.Wait()
			log := logs[i].String()
			switch {
			case err == nil:
				won++
			case !strings.Contains(log, "db exists already") && !strings.Contains(log, "another process is making db"):
				t.Errorf("round %d, %s: %v\n%s", round, kind, err, log)
			}
		}
		if won != 1 {
			t.Errorf("round %d, %s: %d processes made the database, want 1", round, kind, won)
		}
		if got := countRecords(t, filepath.Join(dir, "db"), kind); got != n {
			t.Errorf("round %d, %s: %d records, want %d", round, kind, got, n)
		}
		onlyFiles(t, dir, "db", "images", "labels")
	}
}

// TestDatasetsAtOnce: the same for sets, which -force replaces.
func TestDatasetsAtOnce(t *testing.T) {
	binary := buildBinary(t)
	for _, force := range []string{"-force=false", "-force"} {
		dir := t.TempDir()
		var runs []*exec.Cmd
		var logs [3]bytes.Buffer
		for i := range logs {
			cmd := exec.Command(binary, "dataset", "digits", "-train", "300", "-test", "20", "-out", "data", force)
			cmd.Dir, cmd.Stderr = dir, &logs[i]
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			runs = append(runs, cmd)
		}
		won := 0
		for i, cmd := range runs {
			err := cmd.Wait()
			if log := logs[i].String(); err == nil {
				won++
			} else if !strings.Contains(log, "exists already") && !strings.Contains(log, "another process is making data/digits") {
				t.Errorf("%s: %v\n%s", force, err, log)
			}
		}
		if won < 1 || won > 1 && force != "-force" {
			t.Errorf("%s: %d processes made the set", force, won)
		}
		onlyFiles(t, filepath.Join(dir, "data"), "digits_labels.txt", "digits_mean.binaryproto", "digits_test_lmdb", "digits_train_lmdb")
		for name, want := range map[string]int{"train": 300, "test": 20} {
			if got := countRecords(t, filepath.Join(dir, "data", "digits_"+name+"_lmdb"), "lmdb"); got != want {
				t.Errorf("%s: %d records of %s, want %d", force, got, name, want)
			}
		}
	}
}

// TestInterruptWhileWaiting: a conversion that waits for a pipe, to be opened or to go on, ends at an interrupt and leaves nothing.
func TestInterruptWhileWaiting(t *testing.T) {
	binary := buildBinary(t)
	for _, opened := range []bool{false, true} {
		dir := t.TempDir()
		writeIDX(t, dir, 100)
		images := filepath.Join(dir, "pipe")
		if err := syscall.Mkfifo(images, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(binary, "convert_mnist_data", "pipe", "labels", "db")
		cmd.Dir = dir
		var log bytes.Buffer
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		if opened {
			whole, err := os.ReadFile(filepath.Join(dir, "images"))
			if err != nil {
				t.Fatal(err)
			}
			out, err := os.OpenFile(images, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if _, err := out.Write(whole[:2000]); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the temporary folder", func() bool {
				_, err := os.Stat(filepath.Join(dir, ".db.swcaffe-0.tmp", "data.mdb"))
				found, _ := filepath.Glob(filepath.Join(dir, ".db.swcaffe-0.tmp", "*"))
				return err == nil || len(found) > 0
			})
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		var ended error
		sent := false
		eventually(t, "the end", func() bool {
			if !sent || !opened { // again where it may come before the program has begun
				cmd.Process.Signal(os.Interrupt)
				sent = true
			}
			select {
			case ended = <-done:
				return true
			default:
				return false
			}
		})
		if ended == nil || opened && !strings.Contains(log.String(), "interrupted; nothing was left behind of db") {
			t.Errorf("opened %v: %v\n%s", opened, ended, log.String())
		}
		onlyFiles(t, dir, "images", "labels", "pipe")
	}
}
