package hdf5

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// unpacked returns a file that libhdf5 made (testdata/make.py says how).
func unpacked(t testing.TB, name string) []byte {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", name+".h5.gz"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// fixture returns the path of such a file.
func fixture(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".h5")
	if err := os.WriteFile(path, unpacked(t, name), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkMade compares a dataset with what make.py says its name stands for.
func checkMade(t *testing.T, set Dataset) {
	t.Helper()
	_, extents, _ := strings.Cut(filepath.Base(set.Path), "_")
	extents = extents[strings.LastIndexByte(extents, '_')+1:]
	if got := strings.Trim(strings.ReplaceAll(fmt.Sprint(set.Shape), " ", "x"), "[]"); got != extents {
		t.Errorf("%s: shape %v", set.Path, set.Shape)
	}
	sparse := strings.Contains(set.Path, "sparse")
	for i, v := range set.Data {
		want := float32(i * 3 % 101)
		if last := i == len(set.Data)-1; sparse && !last && i != (len(set.Data)-1)/97*97 && (i%97 != 0 || i >= 1000) {
			want = 7.5
		}
		if v != want {
			t.Errorf("%s: value %d is %g, want %g", set.Path, i, v, want)
			return
		}
	}
}

// TestLibhdf5sFiles reads what libhdf5 writes in its oldest and its newest form: every layout, index of chunks and filter that is supported,
// numbers of all types in both orders, soft and hard links.
func TestLibhdf5sFiles(t *testing.T) {
	for _, version := range []string{"earliest", "latest"} {
		path := fixture(t, "kinds_"+version)
		sets, err := Read(path, func(name string) bool {
			return !strings.HasPrefix(name, "/broken") && !strings.HasSuffix(name, "_text")
		})
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, set := range sets {
			names[set.Path] = true
			checkMade(t, set)
		}
		// 20 layouts and a link, 23 types once more behind a link, and three links at the top.
		if len(sets) != 21+2*23+3 {
			t.Errorf("%s: %d datasets", version, len(sets))
		}
		for _, name := range []string{"/soft_13x5x3", "/hard_13x5x3", "/soft_types_f4_9", "/soft_group/f2_big_9", "/layouts/relative_13x5x3", "/layouts/sparse_extensible_200000"} {
			if !names[name] {
				t.Errorf("%s: there is no %s", version, name)
			}
		}
		for _, text := range []struct{ name, want string }{{"/fixed_text", "fixed"}, {"/variable_text", "of any length"}} {
			if got, err := ReadString(path, text.name); err != nil || got != text.want {
				t.Errorf("%s: %s is %q, %v", version, text.name, got, err)
			}
		}
		for name, want := range map[string]string{
			"dangling": "a soft link to /no/such: there is nothing of that name", "loop": "more than 16 soft links",
			"external": `an external link, to /data/x of file "other.h5"`, "zstd": "a chunk is stored with zstd (filter 32015): gzip, shuffle, fletcher32, szip, nbit, scaleoffset, lzf can be read",
		} {
			_, err := Read(path, func(n string) bool { return n == "/broken/"+name })
			if err == nil || !strings.Contains(err.Error(), path+": dataset /broken/"+name+": ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", version, err, want)
			}
		}
	}
	sets, err := Read(fixture(t, "user_block"), nil)
	if err != nil || len(sets) != 1 {
		t.Fatalf("behind a user's block: %d datasets, error %v", len(sets), err)
	}
	checkMade(t, sets[0])
}

// TestLibhdf5sFilters compares what was stored with filters, or by chunks without them, with what libhdf5 reads from it.
func TestLibhdf5sFilters(t *testing.T) {
	sets, err := Read(fixture(t, "filters"), nil)
	if err != nil {
		t.Fatal(err)
	}
	plain := map[string][]float32{}
	for _, set := range sets {
		if name, ok := strings.CutPrefix(set.Path, "/plain/"); ok {
			plain[name] = set.Data
		}
	}
	for _, set := range sets {
		name, ok := strings.CutPrefix(set.Path, "/stored/")
		if !ok {
			continue
		}
		for i, want := range plain[name] {
			if got := set.Data[i]; math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
				t.Errorf("%s: value %d is %v, want %v", name, i, got, want)
				break
			}
		}
		delete(plain, name)
	}
	if len(plain) > 0 || len(sets) < 2*350 {
		t.Errorf("%d datasets, of which %d were not stored", len(sets), len(plain))
	}
}

// TestLibhdf5sLargeGroups: 1,000 groups in one, and 300 datasets of long names.
func TestLibhdf5sLargeGroups(t *testing.T) {
	for _, version := range []string{"earliest", "latest"} {
		sets, err := Read(fixture(t, "groups_"+version), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(sets) != 1300 {
			t.Errorf("%s: %d datasets, want 1300", version, len(sets))
		}
		for i, set := range sets {
			checkMade(t, set)
			if i < 1000 && set.Path != fmt.Sprintf("/data/layer%03d/w_2", i) {
				t.Errorf("%s: dataset %d is %s", version, i, set.Path)
			}
		}
	}
}

func TestLookup3(t *testing.T) {
	// The examples of the hash's author.
	for text, want := range map[string]uint32{"": 0xdeadbeef, "Four score and seven years ago": 0x17770551} {
		if got := lookup3([]byte(text)); got != want {
			t.Errorf("%q has %x, want %x", text, got, want)
		}
	}
}

// TestIntegersOfOddWidths: numbers may have fewer bits than their bytes.
func TestIntegersOfOddWidths(t *testing.T) {
	kind := &datatype{class: classInteger, size: 2, signed: true, bitOffset: 3, precision: 5}
	for bits, want := range map[int]int64{0b00000_000: 0, 0b01111_111: 15, 0b10000_000: -16, 0b11111_000: -1} {
		if got := kind.integer([]byte{byte(bits), 0xff}); got != want {
			t.Errorf("%s: %d, want %d", strconv.FormatInt(int64(bits), 2), got, want)
		}
	}
}
