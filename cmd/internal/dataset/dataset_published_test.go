package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// drawnFiles are the four files of a set of n training and m test images, whose pixels differ by image, place and seed.
func drawnFiles(seed, n, m int) (files [4][]byte) {
	for i := range files {
		count := []int{n, m}[i/2]
		if i%2 == 1 {
			files[i] = binary.BigEndian.AppendUint32([]byte{0, 0, 8, 1}, uint32(count))
			for at := range count {
				files[i] = append(files[i], byte((at*7+seed+i)%10))
			}
			continue
		}
		files[i] = binary.BigEndian.AppendUint32([]byte{0, 0, 8, 3}, uint32(count))
		files[i] = append(files[i], 0, 0, 0, 28, 0, 0, 0, 28)
		for at := range count * 28 * 28 {
			files[i] = append(files[i], byte(at*at/28+at/784*13+seed+i))
		}
	}
	return files
}

// drawnSet is a set of such files, and its content.
func drawnSet(seed int) (*publishedSet, [4][]byte) {
	files := drawnFiles(seed, 23, 5)
	s := &publishedSet{name: "drawn", counts: [2]int{23, 5}, classes: publishedSets[1].classes}
	for i, content := range files {
		sum := sha256.Sum256(content)
		s.sums[i] = hex.EncodeToString(sum[:])
	}
	return s, files
}

// spelling is a way to name and pack files.
type spelling struct{ dot, packed bool }

func (s spelling) write(t *testing.T, folder string, files [4][]byte) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for i, name := range idxNames {
		content := files[i]
		if s.dot {
			name = strings.Replace(name, "-idx", ".idx", 1)
		}
		if s.packed {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			if _, err := w.Write(content); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			name, content = name+".gz", b.Bytes()
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// makeDrawn makes a set in a folder, as the command does.
func makeDrawn(t *testing.T, s *publishedSet, out string, o publishedOptions, files bool, train, test int) error {
	t.Helper()
	log := logrus.New()
	log.SetOutput(io.Discard)
	options := &datasetOptions{out: out, train: train, test: test, publishedOptions: o, objectsOptions: objectsOptions{files: files}, given: func(string) bool { return true }}
	kind := s.kind()
	temporary, err := cli.NewTemporary(filepath.Join(out, kind.name))
	if err != nil {
		t.Fatal(err)
	}
	defer temporary.Remove()
	return options.make(context.Background(), &cli.Env{Log: log, Stdout: io.Discard, Stderr: io.Discard}, &kind, temporary.Path)
}

// TestPublishedFiles: the databases are byte for byte those of convert_mnist_data, however the files are named, packed and placed, and beside files of the same names
// of another set.
func TestPublishedFiles(t *testing.T) {
	s, files := drawnSet(1)
	plain := t.TempDir()
	spelling{}.write(t, plain, files)
	converted := filepath.Join(t.TempDir(), "db")
	log := logrus.New()
	log.SetOutput(io.Discard)
	e := &cli.Env{Log: log, Stdout: io.Discard, Stderr: io.Discard}
	if err := convertMnist(e, &mnistOptions{filepath.Join(plain, idxNames[0]), filepath.Join(plain, idxNames[1]), converted, "lmdb"}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(converted, "data.mdb"))
	if err != nil {
		t.Fatal(err)
	}
	_, others := drawnSet(2)
	for _, c := range []struct {
		spelling
		place string
		other string
	}{
		{spelling{false, false}, ".", ""}, {spelling{true, false}, ".", ""}, {spelling{false, true}, ".", ""}, {spelling{true, true}, ".", ""},
		{spelling{false, true}, "MNIST/raw", "FashionMNIST/raw"}, {spelling{true, false}, "b", "a"}, {spelling{false, true}, "a/b/c", "."},
	} {
		folder, out := t.TempDir(), t.TempDir()
		c.write(t, filepath.Join(folder, c.place), files)
		if c.other != "" {
			c.write(t, filepath.Join(folder, c.other), others)
		}
		if err := makeDrawn(t, s, out, publishedOptions{from: folder}, false, 23, 5); err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if got, err := os.ReadFile(filepath.Join(out, "drawn_train_lmdb", "data.mdb")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%+v: the database differs from that of convert_mnist_data (%v)", c, err)
		}
	}
}

// TestPublishedOutputs: HDF5 files, PNG files and the four files have the first images of the set.
func TestPublishedOutputs(t *testing.T) {
	s, files := drawnSet(3)
	folder, out := t.TempDir(), t.TempDir()
	spelling{true, true}.write(t, folder, files)
	if err := makeDrawn(t, s, out, publishedOptions{from: folder, hdf5: true, idx: true}, true, 11, 5); err != nil {
		t.Fatal(err)
	}
	sets, err := hdf5.Read(filepath.Join(out, "drawn_train.h5"), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range sets {
		content, shape := files[0][16:], []int{11, 1, 28, 28}
		scale := float32(256)
		if d.Path == "/label" {
			content, shape, scale = files[1][8:], []int{11}, 1
		}
		if !slices.Equal(d.Shape, shape) {
			t.Errorf("%s has shape %v", d.Path, d.Shape)
		}
		for i, v := range d.Data {
			if v*scale != float32(content[i]) {
				t.Fatalf("%s: value %d is %g, want %g", d.Path, i, v, float32(content[i])/scale)
			}
		}
	}
	if len(sets) != 2 {
		t.Errorf("%d datasets", len(sets))
	}
	for i, name := range idxNames {
		if got, err := os.ReadFile(filepath.Join(out, "drawn_idx", name)); err != nil || !bytes.Equal(got, files[i]) {
			t.Errorf("%s differs (%v)", name, err)
		}
	}
	for at := range 11 {
		class := strings.Replace(s.classes[files[1][8+at]], "/", "_", 1)
		file, err := os.Open(filepath.Join(out, "drawn_files", "train", class, fmt.Sprintf("%08d.png", at)))
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []int{0, 27, 400, 783} {
			if v, _, _, _ := picture.At(p%28, p/28).RGBA(); byte(v) != files[0][16+784*at+p] {
				t.Errorf("image %d, pixel %d is %d, want %d", at, p, byte(v), files[0][16+784*at+p])
			}
		}
	}
	names, err := os.ReadFile(filepath.Join(out, "drawn_labels.txt"))
	if err != nil || !strings.HasPrefix(string(names), "T-shirt/top\nTrouser\n") {
		t.Errorf("labels %q (%v)", names, err)
	}
}

// TestPublishedRefused: damaged, missing and foreign files leave nothing, and the error names the file.
func TestPublishedRefused(t *testing.T) {
	s, files := drawnSet(4)
	_, others := drawnSet(5)
	for _, c := range []struct {
		name   string
		damage func(folder string) error
		train  int
		want   string
	}{
		{"one bit", func(f string) error {
			return change(filepath.Join(f, idxNames[2]), func(b []byte) []byte { b[900]++; return b })
		}, 23, idxNames[2] + ": the SHA-256"},
		{"too long", func(f string) error {
			return change(filepath.Join(f, idxNames[1]), func(b []byte) []byte { return append(b, 0) })
		}, 23, idxNames[1] + ": the SHA-256"},
		{"cut", func(f string) error {
			return change(filepath.Join(f, idxNames[0]), func(b []byte) []byte { return b[:999] })
		}, 23, idxNames[0] + ": the SHA-256"},
		{"empty", func(f string) error {
			return change(filepath.Join(f, idxNames[3]), func(b []byte) []byte { return nil })
		}, 23, idxNames[3] + ": the SHA-256"},
		{"no gzip", func(f string) error {
			return change(filepath.Join(f, idxNames[3]), func(b []byte) []byte { return []byte{0x1f, 0x8b, 9} })
		}, 23, idxNames[3] + ": "},
		{"missing", func(f string) error { return os.Remove(filepath.Join(f, idxNames[1])) }, 23, "no file train-labels-idx1-ubyte, train-labels.idx1-ubyte"},
		{"another set", func(f string) error { spelling{}.write(t, f, others); return nil }, 23, "damaged or of another set"},
		{"too many", func(string) error { return nil }, 24, "-train 24: drawn has 23 train images"},
		{"no folder", os.RemoveAll, 23, "no such file"},
	} {
		folder, out := t.TempDir(), t.TempDir()
		spelling{}.write(t, folder, files)
		if err := c.damage(folder); err != nil {
			t.Fatal(err)
		}
		if err := makeDrawn(t, s, out, publishedOptions{from: folder}, false, c.train, 5); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
		if left, _ := os.ReadDir(out); len(left) > 0 {
			t.Errorf("%s: %v is left", c.name, left)
		}
	}
}

func change(path string, f func([]byte) []byte) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, f(b), 0o666)
}

// TestSources: programs with the names go, apt-get and dpkg-deb get the arguments of the real ones, and what they leave or say arrives.
func TestSources(t *testing.T) {
	s, files := drawnSet(6)
	folder := t.TempDir()
	spelling{false, true}.write(t, filepath.Join(folder, "data"), files)
	right := "case $* in 'mod download -json a.b/c@v1') echo '{\"Dir\": \"" + folder + "\"}';; *) exit 9;; esac"
	module, debian := goModule{"a.b/c", "v1"}, debianPackage("drawn-files")
	unpack := "[ \"$1 $2\" = '-x drawn-files_1_all.deb' ] && mkdir -p $3/usr/share/datasets/drawn && cp " + folder + "/data/* $3/usr/share/datasets/drawn"
	for _, c := range []struct {
		name     string
		sources  []source
		programs map[string]string
		want     string // of the error
	}{
		{"a module", []source{module}, map[string]string{"go": right}, ""},
		{"a package", []source{debian}, map[string]string{"apt-get": "[ \"$*\" = '-q download drawn-files' ] && : >drawn-files_1_all.deb", "dpkg-deb": unpack}, ""},
		{"the second source", []source{installed("/none"), module}, map[string]string{"go": right}, ""},
		{"no programs", []source{module, debian}, nil, "cannot get drawn: go mod download a.b/c@v1: there is no program go on the PATH; apt-get download drawn-files: there is no program apt-get"},
		{"offline", []source{module}, map[string]string{"go": "printf '%s' '{\"Error\": \"lookup proxy:\\n no such host\"}'; exit 1"}, "go mod download a.b/c@v1: lookup proxy: no such host. If you have its files"},
		{"an old go", []source{module}, map[string]string{"go": "echo 'unknown command' >&2; exit 2"}, "go: unknown command. If"},
		{"no folder named", []source{module}, map[string]string{"go": "echo '{}'"}, "names no folder"},
		{"apt fails", []source{debian}, map[string]string{"apt-get": "echo 'E: Unable to fetch' >&2; exit 100"}, "apt-get: E: Unable to fetch"},
		{"apt leaves nothing", []source{debian}, map[string]string{"apt-get": ":"}, "it left no file drawn-files_*.deb"},
		{"no package", []source{debian}, map[string]string{"apt-get": ": >drawn-files_1_all.deb", "dpkg-deb": "echo 'not a deb' >&2; exit 2"}, "dpkg-deb: not a deb"},
	} {
		programs, out := t.TempDir(), t.TempDir()
		for name, text := range c.programs {
			if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+text+"\n"), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", programs)
		s.sources = c.sources
		err := makeDrawn(t, s, out, publishedOptions{}, false, 23, 5)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(out, "*")); (len(left) == 4) != (c.want == "") {
			t.Errorf("%s: %v is there", c.name, left)
		}
	}
}

// TestRealSets fetches the published sets and makes databases of their first images.
func TestRealSets(t *testing.T) {
	if testing.Short() {
		t.Skip("fetches 40 MB")
	}
	labels := map[string]string{"mnist": "5041921314", "fashion_mnist": "9003027255"}
	for _, s := range publishedSets {
		t.Run(s.name, func(t *testing.T) {
			out := t.TempDir()
			err := makeDrawn(t, s, out, publishedOptions{}, false, 10, 1)
			if err != nil && strings.HasPrefix(err.Error(), "cannot get ") && !strings.Contains(err.Error(), "SHA-256") {
				t.Skipf("the files cannot be had here: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			err = cli.EachRecord(filepath.Join(out, s.name+"_train_lmdb"), "lmdb", func(r *data.Record) error {
				d := &caffepb.Datum{}
				err := proto.Unmarshal(r.Raw, d)
				got += fmt.Sprint(d.GetLabel())
				return err
			})
			if err != nil || got != labels[s.name] {
				t.Errorf("labels %s, want %s (%v)", got, labels[s.name], err)
			}
		})
	}
}
