//go:build unix

package proto

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// fifo makes a named pipe that somebody writes a text into, once.
func fifo(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			f.WriteString(text)
			f.Close()
		}
	}()
	return path
}

// TestPipes: what a pipe gives once can be read by all workers.
func TestPipes(t *testing.T) {
	path := fifo(t, `net: "n" base_lr: 0.5 lr_policy: "fixed"`)
	for range 2 {
		s, err := ReadSolver(path)
		if err != nil || s.Param.GetBaseLr() != 0.5 {
			t.Fatalf("%v, %v", s, err)
		}
	}
	weights := filepath.Join(t.TempDir(), "w")
	blob := &caffepb.BlobProto{Data: make([]float32, 5000)}
	if err := WriteBinary(weights, &caffepb.NetParameter{Layer: []*caffepb.LayerParameter{{Blobs: []*caffepb.BlobProto{blob}}}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(weights)
	if err != nil {
		t.Fatal(err)
	}
	path = fifo(t, string(text))
	for range 2 {
		w, err := OpenWeights(path)
		if err != nil || len(w.Param.Layer[0].Blobs[0].Data) != 5000 {
			t.Fatalf("%v", err)
		}
	}
}

// TestDevices: a device is no file to read; it may have no end.
func TestDevices(t *testing.T) {
	for name, read := range map[string]func() error{
		"net":     func() error { _, err := ReadNet("/dev/zero"); return err },
		"solver":  func() error { _, err := ReadSolver("/dev/zero"); return err },
		"weights": func() error { _, err := OpenWeights("/dev/zero"); return err },
		"state":   func() error { _, err := OpenState("/dev/zero"); return err },
		"text":    func() error { _, err := ReadText("/dev/zero", &caffepb.NetParameter{}); return err },
	} {
		if err := read(); err == nil || err.Error() != "/dev/zero: a device, where a file is needed" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEndlessPipe: a pipe is read up to a limit.
func TestEndlessPipe(t *testing.T) {
	if data, err := readStream(fifo(t, "12345678"), 8); err != nil || len(data) != 8 {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := readStream(fifo(t, "123456789"), 8); err == nil || !strings.Contains(err.Error(), "more than 8 bytes") {
		t.Errorf("got %v", err)
	}
}
