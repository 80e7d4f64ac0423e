package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// small writes a file with a little of everything and returns its bytes.
func small(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.h5")
	err := Write(path, &File{
		Groups:   []string{"/data/relu"},
		Floats:   []Dataset{{Path: "/data/ip/0", Shape: []int{3, 2}, Data: []float32{1, 2, 3, 4, 5, 6}}, {Path: "/label", Shape: []int{3}, Data: []float32{0, 1, 2}}},
		Integers: []Integers{{"/iter", []int32{1<<24 + 1}}},
		Strings:  []String{{"/learned_net", "w.caffemodel.h5"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// readAll uses a file in every way there is.
func readAll(path string) error {
	if _, err := Read(path, nil); err != nil {
		return err
	}
	if _, err := ReadString(path, "/learned_net"); err != nil {
		return err
	}
	_, err := ReadInteger(path, "/iter")
	return err
}

// TestDamagedFilesAreErrors: a file cut off anywhere, or with a byte turned over, is an error that names it, or it is
// read; it is never a panic.
func TestDamagedFilesAreErrors(t *testing.T) {
	whole := small(t)
	path := filepath.Join(t.TempDir(), "damaged.h5")
	try := func(what string, file []byte, must bool) {
		t.Helper()
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
		err := readAll(path)
		if must && err == nil {
			t.Errorf("%s: no error", what)
		}
		if err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%s: the error does not name the file: %v", what, err)
		}
	}
	for n := 0; n < len(whole); n += 1 + len(whole)/200 {
		try(fmt.Sprintf("cut off at byte %d of %d", n, len(whole)), whole[:n], n < len(whole)/2)
	}
	for at := 0; at < len(whole); at += 1 + len(whole)/400 {
		bad := append([]byte(nil), whole...)
		bad[at] ^= 0xff
		try(fmt.Sprintf("byte %d turned over", at), bad, at < len(signature))
	}
}

// TestFilesThatEndEarly: whatever is cut off a file, the error says so, for all versions of the superblock.
func TestFilesThatEndEarly(t *testing.T) {
	whole := small(t)
	path := filepath.Join(t.TempDir(), "short.h5")
	try := func(file []byte, want string) {
		t.Helper()
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
		err := readAll(path)
		if err == nil || !strings.Contains(err.Error(), path+": "+want) {
			t.Errorf("%d bytes: error %v, want %q", len(file), err, want)
		}
	}
	for n := 1; n < len(whole); n += 1 + len(whole)/100 {
		try(whole[:n], fmt.Sprintf("the HDF5 file ends early: it has %d bytes", n))
	}
	try(whole[:len(whole)-1], fmt.Sprintf("the HDF5 file ends early: it has %d bytes of %d", len(whole)-1, len(whole)))
	for _, head := range []struct {
		version, addresses byte
		sizes, end         int
	}{{0, 8, 13, 40}, {1, 8, 13, 44}, {2, 8, 9, 28}, {3, 8, 9, 28}} {
		file := append([]byte(signature), make([]byte, 92)...)
		file[8], file[head.sizes], file[head.sizes+1] = head.version, head.addresses, 8
		binary.LittleEndian.PutUint64(file[head.end:], 101)
		try(file, "the HDF5 file ends early: it has 100 bytes of 101")
		if binary.LittleEndian.PutUint64(file[head.end:], 100); superblock(file).checkEnd(100) != nil {
			t.Errorf("version %d: a file as long as it says is an error", head.version)
		}
	}
}

// TestHugeLengthsAreErrors writes a terabyte over whatever may be a length in a file: the reader must not make room for it.
func TestHugeLengthsAreErrors(t *testing.T) {
	whole := small(t)
	path := filepath.Join(t.TempDir(), "huge.h5")
	const much = 512 << 20
	for at := 0; at+8 <= len(whole); at += 4 {
		if bytes.Count(whole[max(0, at-8):at+8], []byte{0}) >= min(at, 8)+8 {
			continue // nothing but zeros is near
		}
		bad := append([]byte(nil), whole...)
		binary.LittleEndian.PutUint64(bad[at:], 1<<40)
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := readAll(path)
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > much {
			t.Errorf("at byte %d: %d bytes were allocated (error %v)", at, after.TotalAlloc-before.TotalAlloc, err)
		}
	}
}

func TestMissingDatasets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.h5")
	if err := os.WriteFile(path, small(t), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, err := ReadInteger(path, "/iter"); err != nil || n != 1<<24+1 {
		t.Errorf("/iter is %d, %v", n, err)
	}
	for _, tt := range []struct {
		name string
		err  error
	}{
		{"there is no dataset /step", second(ReadInteger(path, "/step"))},
		{"there is no dataset /none", second(ReadString(path, "/none"))},
		{"is not one integer", second(ReadInteger(path, "/label"))},
		{"no/such.h5", second(Read("no/such.h5", nil))},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.name) {
			t.Errorf("error %v, want %q", tt.err, tt.name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// FuzzRead overwrites bytes of good files, and cuts them off: reading ends in datasets or an error.
func FuzzRead(f *testing.F) {
	files := [][]byte{small(f), []byte(signature)}
	for _, path := range []string{"data_hdf5_three_sets/x.h5", "net_weights_hdf5/w.caffemodel.h5", "solver_resume_hdf5/snap_iter_6.solverstate.h5"} {
		if file, err := os.ReadFile("../../../shared/conformance/cases/" + path); err == nil {
			files = append(files, file)
		}
	}
	for i := range files {
		f.Add(uint8(i), uint32(8), []byte{3}, uint32(0))
		f.Add(uint8(i), uint32(100), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint32(9))
	}
	path := filepath.Join(f.TempDir(), "x.h5")
	f.Fuzz(func(t *testing.T, which uint8, at uint32, patch []byte, cut uint32) {
		b := append([]byte(nil), files[int(which)%len(files)]...)
		copy(b[int(at)%len(b):], patch)
		b = b[:len(b)-int(cut)%len(b)]
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := readAll(path); err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("the error does not name the file: %v", err)
		}
	})
}

func TestCheckHeaps(t *testing.T) {
	dir := t.TempDir()
	// A superblock, and the address of what stands at byte 24.
	head := func(lengths byte) []byte {
		return append([]byte(signature), 0, 0, 0, 0, 0, 8, lengths, 0, 24, 0, 0, 0, 0, 0, 0, 0)
	}
	heap := func(signature string, length uint64) []byte {
		return binary.LittleEndian.AppendUint64([]byte(signature), length)
	}
	const block = 1 << 20
	far := func(address int) []byte {
		b := make([]byte, address, address+16)
		copy(b, head(8))
		binary.LittleEndian.PutUint64(b[16:], uint64(address))
		return append(b, heap("HEAP\x00\x00\x00\x00", 1<<40)...)
	}
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"none":                     {head(8), ""},
		"no superblock":            {[]byte(signature), ""},
		"as long as the file":      {append(head(8), heap("HEAP\x00\x00\x00\x00", 40)...), ""},
		"longer":                   {append(head(8), heap("HEAP\x00\x00\x00\x00", 41)...), "a local heap of 41 bytes in a file of 40"},
		"longer, of odd version":   {append(head(8), heap("HEAP0\xa0g\x11", 1<<60)...), "a local heap of 1152921504606846976 bytes"},
		"behind another":           {append(append(head(8)[:16], heap("\x30\x00\x00\x00\x00\x00\x00\x00", 0)...), append(heap("GCOLGCOL", 1), heap("GCOL\x01\x00\x00\x00", 1<<60)...)...), "global heap collection of 1152921504606846976 bytes"},
		"begins at a block's end":  {far(block - 3), "local heap of 1099511627776"},
		"ends at a block's end":    {far(block - 16), "local heap of 1099511627776"},
		"begins with a block":      {far(block), "local heap of 1099511627776"},
		"values like a heap":       {append(append(head(8), 0, 0, 0), heap("HEAP\x00\x00\x00\x00", 1<<40)...), ""},
		"cut off":                  {append(head(8), "HEAP\x00\x00\x00\x00\xff"...), ""},
		"lengths of another width": {append(head(4), heap("HEAP\x00\x00\x00\x00", 1<<40)...), ""},
	} {
		path := filepath.Join(dir, "x.h5")
		if err := os.WriteFile(path, tt.file, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		head, err := readSuperblock(f)
		if err != nil {
			t.Fatal(err)
		}
		err = checkHeaps(f, head, int64(len(tt.file)))
		f.Close()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}
