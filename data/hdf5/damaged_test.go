package hdf5

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
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

// readAll uses a file in every way there is, and returns the first error.
func readAll(path string) error {
	_, whole := Read(path, nil)
	var names []string
	Read(path, func(name string) bool { names = append(names, name); return false })
	for _, name := range names[:min(len(names), 20)] { // what one dataset's error keeps from being read
		Read(path, func(n string) bool { return n == name })
	}
	_, text := ReadString(path, "/learned_net")
	_, number := ReadInteger(path, "/iter")
	return cmp.Or(whole, text, number)
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
		for _, end := range []uint64{101, 100} {
			binary.LittleEndian.PutUint64(file[head.end:], end)
			if head.version >= 2 {
				binary.LittleEndian.PutUint32(file[44:], lookup3(file[:44]))
			}
			if end > 100 {
				try(file, "the HDF5 file ends early: it has 100 bytes of 101")
				continue
			}
			if err := os.WriteFile(path, file, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := readAll(path); err == nil || strings.Contains(err.Error(), "ends early") {
				t.Errorf("version %d, as long as it says: error %v", head.version, err)
			}
		}
	}
}

// allocated returns the bytes that the process has allocated so far, within a few kilobytes. It does not stop all goroutines, as ReadMemStats does.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
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
		before := allocated()
		err := readAll(path)
		if n := allocated() - before; n > much {
			t.Errorf("at byte %d: %d bytes were allocated (error %v)", at, n, err)
		}
	}
}

// TestHugeTypesAreErrors writes sizes of 2 to 4 GB over whatever may be one of 4 bytes.
func TestHugeTypesAreErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge.h5")
	const much = 256 << 20
	for name, whole := range map[string][]byte{"ours": small(t), "latest": unpacked(t, "small_latest")} {
		for at := 8; at+4 <= len(whole); at += 4 {
			if bytes.Count(whole[at-8:at+4], []byte{0}) == 12 {
				continue
			}
			for _, size := range []uint32{1<<31 - 1, 1<<32 - 16} {
				bad := bytes.Clone(whole)
				binary.LittleEndian.PutUint32(bad[at:], size)
				if err := os.WriteFile(path, bad, 0o644); err != nil {
					t.Fatal(err)
				}
				before := allocated()
				err := readAll(path)
				if n := allocated() - before; n > much {
					t.Errorf("%s, %d at byte %d: %d bytes were allocated (error %v)", name, size, at, n, err)
				}
			}
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

// unverified lets a test damage what checksums guard.
func unverified(t testing.TB) {
	verify = false
	t.Cleanup(func() { verify = true })
}

// TestMutatedFiles overwrites bytes of small files of all kinds at random, mostly with what lengths and counts may be, with checksums looked
// at and not: reading ends soon, in datasets or an error, and makes room for no more than the files could hold.
func TestMutatedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mutated.h5")
	rng := rand.New(rand.NewPCG(1, 2))
	values := []uint64{0, 1, 0x7f, 0xff, 0x100, 0x7fff, 0xffff, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	const much = 256 << 20
	for name, whole := range map[string][]byte{"ours": small(t), "earliest": unpacked(t, "small_earliest"), "latest": unpacked(t, "small_latest")} {
		for k := range 400 {
			bad := bytes.Clone(whole)
			for range 1 + rng.IntN(3) {
				at, width := rng.IntN(len(bad)-8), 1<<rng.IntN(4)
				v := values[rng.IntN(len(values))]
				if rng.IntN(3) == 0 {
					v = uint64(rng.IntN(len(bad))) // an address in the file
				}
				copy(bad[at:at+width], binary.LittleEndian.AppendUint64(nil, v))
			}
			if err := os.WriteFile(path, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			verify = k%2 == 0
			before, start := allocated(), time.Now()
			err := readAll(path)
			if n := allocated() - before; n > much || time.Since(start) > time.Minute {
				t.Errorf("%s, change %d: %d bytes were allocated in %v (error %v)", name, k, n, time.Since(start), err)
			}
			if err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("%s, change %d: the error does not name the file: %v", name, k, err)
			}
		}
	}
	verify = true
}

// FuzzRead overwrites bytes of good files, and cuts them off: reading ends in datasets or an error.
func FuzzRead(f *testing.F) {
	files := [][]byte{small(f), unpacked(f, "small_earliest"), unpacked(f, "small_latest"), unpacked(f, "user_block"), []byte(signature)}
	for i := range files {
		f.Add(uint8(i), uint32(8), []byte{3}, uint32(0), []byte{}, uint32(0))
		f.Add(uint8(i), uint32(100), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint32(200), []byte{1}, uint32(9))
	}
	path := filepath.Join(f.TempDir(), "x.h5")
	f.Fuzz(func(t *testing.T, which uint8, at uint32, patch []byte, at2 uint32, patch2 []byte, cut uint32) {
		unverified(t)
		b := append([]byte(nil), files[int(which)%len(files)]...)
		copy(b[int(at)%len(b):], patch)
		copy(b[int(at2)%len(b):], patch2)
		b = b[:len(b)-int(cut)%len(b)]
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := readAll(path); err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("the error does not name the file: %v", err)
		}
	})
}
