//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLogReaderVanishes: training whose log nobody reads any more goes on, and stops with a snapshot when a SIGINT asks it to.
func TestLogReaderVanishes(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "solver.prototxt"), endless)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(buildBinary(t), "train", "-solver", "solver.prototxt")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	w.Close()
	var head [512]byte
	for text := ""; !strings.Contains(text, "Iteration 2 "); {
		n, err := r.Read(head[:])
		if err != nil {
			t.Fatalf("%v after\n%s", err, text)
		}
		text += string(head[:n])
	}
	r.Close()
	// A snapshot shows that it goes on without a reader.
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	eventually(t, "a snapshot", func() bool {
		if len(ended) > 0 {
			t.Fatalf("it ended: %v", <-ended)
		}
		return countSnapshots(t, dir) == 1
	})
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := wholeSnapshots(t, dir); n != 2 {
		t.Errorf("%d snapshots, want that of the SIGHUP and that of the SIGINT", n)
	}
}

// TestProductReaderVanishes: a command whose product nobody reads ends as Unix tools do: quietly, by SIGPIPE.
func TestProductReaderVanishes(t *testing.T) {
	for _, line := range []string{"help", "time -dry_run -model ../../models/lenet/deploy.prototxt", "fmt ../../models/lenet/deploy.prototxt"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		var log strings.Builder
		cmd := exec.Command(buildBinary(t), strings.Fields(line)...)
		cmd.Stdout, cmd.Stderr = w, &log
		err = cmd.Run()
		w.Close()
		failed := (*exec.ExitError)(nil)
		if !errors.As(err, &failed) || failed.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE || strings.Contains(log.String(), "pipe") {
			t.Errorf("%s: %v, want an end by SIGPIPE; log:\n%s", line, err, log.String())
		}
	}
}

// TestLogReaderOfConversionVanishes: a conversion whose log nobody reads still makes its whole database.
func TestLogReaderOfConversionVanishes(t *testing.T) {
	dir := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd := exec.Command(buildBinary(t), "dataset", "digits", "-out", dir, "-train", "50", "-test", "20")
	cmd.Stderr = w
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
}

// TestIgnoredStopWhileOpening: SIGINT soon ends a training that waits for its solver, even if it was started with SIGINT ignored.
// The exit code is the one that a shell reports for SIGINT.
func TestIgnoredStopWhileOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "solver.prototxt")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `trap "" INT; exec "$@"`, "sh", buildBinary(t), "train", "-solver", path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	eventually(t, "a reader", func() bool {
		writer, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			t.Cleanup(func() { writer.Close() })
		}
		return err == nil
	})
	begin := time.Now()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	failed := (*exec.ExitError)(nil)
	if took := time.Since(begin); !errors.As(err, &failed) || failed.ExitCode() != 128+int(syscall.SIGINT) || took > 30*time.Second {
		t.Errorf("%v after %v, want exit code 130 soon", err, took)
	}
}

// TestStopWhileOpening: a SIGINT ends a training that waits for whoever writes a FIFO, be it the solver, its net or a snapshot.
func TestStopWhileOpening(t *testing.T) {
	for _, fifo := range []string{"solver.prototxt", "net.prototxt", "s.solverstate", "w.caffemodel"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "solver.prototxt"), `net: "net.prototxt" `+endless[strings.Index(endless, "base_lr"):])
		write(t, filepath.Join(dir, "net.prototxt"), endless[strings.Index(endless, "{")+1:strings.LastIndex(endless, "}")])
		path := filepath.Join(dir, fifo)
		os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"train", "-solver", "solver.prototxt"}
		switch fifo {
		case "s.solverstate":
			args = append(args, "-snapshot", fifo)
		case "w.caffemodel":
			args = append(args, "-weights", fifo)
		}
		cmd := exec.Command(buildBinary(t), args...)
		cmd.Dir = dir
		var log strings.Builder
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		var writer *os.File // who never writes: it can be opened once there is a reader
		eventually(t, "a reader of "+fifo, func() bool {
			var err error
			writer, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			return err == nil
		})
		defer writer.Close()
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		failed := (*exec.ExitError)(nil)
		if !errors.As(err, &failed) || failed.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
			t.Errorf("%s: %v, want an end by SIGINT; log:\n%s", fifo, err, log.String())
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
