package hdf5

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExternalFiles: values may lie in other files, in the working folder or beside the HDF5 file. A file that ends early has zeros.
func TestExternalFiles(t *testing.T) {
	path := fixture(t, "external")
	read := func() ([]float32, error) {
		sets, err := Read(path, nil)
		if err != nil {
			return nil, err
		}
		return sets[0].Data, nil
	}
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "its values are in another file") || !strings.Contains(err.Error(), "values.bin") {
		t.Errorf("without the files the error is %v", err)
	}
	var all []byte
	for i := range 20 {
		all = binary.LittleEndian.AppendUint32(all, math.Float32bits(float32(i*3%101)))
	}
	for name, b := range map[string][]byte{"values.bin": append([]byte("head"), all[:40]...), "more.bin": all[40:72]} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	beside, err := read()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("more.bin", all[:40], 0o644); err != nil {
		t.Fatal(err)
	}
	here, err := read()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		want, want2 := float32(i*3%101), float32(i%10*3%101)
		if i >= 18 {
			want = 0
		}
		if beside[i] != want || here[i] != want2 {
			t.Errorf("value %d is %g and %g, want %g and %g", i, beside[i], here[i], want, want2)
		}
	}
}

// TestDamagedFilters: chunks and parameters of random bytes give an error or a result within the limit.
func TestDamagedFilters(t *testing.T) {
	const seed, rounds, most = 1, 20000, 600
	r := rand.New(rand.NewPCG(seed, 0))
	for id, decode := range decoders {
		for range rounds {
			b := make([]byte, r.IntN(100))
			for i := range b {
				if b[i] = byte(r.Uint32()); r.IntN(3) == 0 {
					b[i] = 0
				}
			}
			f := &filter{id: id, values: make([]uint64, r.IntN(20))}
			for i := range f.values {
				if f.values[i] = uint64(r.IntN(9)); r.IntN(9) == 0 {
					f.values[i] = uint64(r.Uint32())
				}
			}
			if id == filterSzip {
				f.values = []uint64{uint64(r.IntN(64)), 2 * uint64(1+r.IntN(16)), uint64(1 + r.IntN(64)), uint64(1 + r.IntN(200))}
				if len(b) > 2 {
					clear(b[2:min(len(b), 4)])
				}
			}
			d := &storedSet{kind: &datatype{size: 1 + r.IntN(8)}}
			if out, err := decode(d, f, b, most); err == nil && len(out) > max(most, len(b)) {
				t.Fatalf("filter %d with %v makes %d bytes of % x", id, f.values, len(out), b)
			}
		}
	}
}
