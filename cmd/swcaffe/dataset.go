package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/internal/suggest"
)

var datasetCommand = command{
	name:    "dataset",
	summary: "make a training set: digits, shapes, pairs, scenes, points or text",
	args:    strings.Join(datasetKinds().Names(), "|") + " [-out DIR] [-train N] [-test N] [-seed S] [-force]",
	example: "swcaffe dataset digits -out data -train 20000 -test 4000",
	words:   []string{"kind"},
	long: `Makes a training and a test set, named DIR/KIND_train_... and DIR/KIND_test_...:

  digits   28x28 grey images of digits, for models/lenet and models/mnist_autoencoder
  shapes   32x32 colour images in ten classes, for models/cifar10_quick, models/cifar10_full and its variants
  pairs    pairs of digits as images of two channels, label 1 for two of the same digit, for models/mnist_siamese
  scenes   64x64 colour images with several shapes, and the class of every pixel, for models/fcn
  points   points with four coordinates in two classes, for models/hdf5_classification
  text     the characters of -text in parallel streams, for models/char_rnn

Images are LMDBs, beside the mean of the training images in DIR/KIND_mean.binaryproto; points and text are HDF5 files,
beside lists of them for HDF5Data layers. The same seed gives the same set, on any number of cores.`,
	do: with(datasetFlags, dataset),
}

func datasetFlags(fs *flag.FlagSet, o *datasetOptions) {
	fs.StringVar(&o.kind, "kind", "", "what to make: "+strings.Join(datasetKinds().Names(), ", "))
	fs.StringVar(&o.out, "out", "data", "the `DIR` to write to")
	fs.IntVar(&o.train, "train", 20000, "the number of training images, points or characters")
	fs.IntVar(&o.test, "test", 4000, "the number of test images, points or characters")
	fs.Uint64Var(&o.seed, "seed", 1, "the seed of all images and points; a text has no use for it")
	fs.BoolVar(&o.force, "force", false, "replace sets that are there already")
	fs.StringVar(&o.text, "text", "models/char_rnn/opticks.txt", "text: the `FILE` with the characters")
	fs.IntVar(&o.streams, "streams", 32, "text: the number of parts that are read side by side")
}

type datasetOptions struct {
	kind, out   string
	train, test int
	seed        uint64
	force       bool
	text        string
	streams     int
}

// datasetKind is a kind of set.
type datasetKind struct {
	name    string
	items   string   // what -train and -test count
	outputs []string // names of what it writes, behind DIR/KIND_
	write   func(context.Context, *datasetJob) error
}

// datasetKinds lists the kinds in the order of help.
func datasetKinds() suggest.Table[datasetKind] {
	kinds := suggest.Table[datasetKind]{Kind: "kind of set", Kinds: "kinds", Name: func(k datasetKind) string { return k.name }}
	for _, s := range imageSets {
		kinds.Entries = append(kinds.Entries, s.kind())
	}
	kinds.Entries = append(kinds.Entries, pointsKind, textKind)
	return kinds
}

// firstTest is the number of the first test item, so large that no training item reaches it.
const firstTest = 1 << 32

// part is the training or the test set: n items from number first on.
type part struct {
	name  string
	first uint64
	n     int
}

func (o *datasetOptions) parts() []part {
	return []part{{"train", 0, o.train}, {"test", firstTest, o.test}}
}

// maxItems is what the eight digits of a key can count.
const maxItems = 100_000_000

// output is a file or database of a set. It is made in the temporary folder of the set and gets its own name when all is done.
type output struct{ path, temporary string }

// publish gives the output its name. With replace, what had that name goes to the temporary folder, and comes back if all fails.
func (p output) publish(replace bool) error {
	if !replace {
		return publish(p.temporary, p.path)
	}
	old := p.temporary + ".old"
	if err := os.Rename(p.path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := publish(p.temporary, p.path)
	if err != nil {
		_ = os.Rename(old, p.path) // it fails where there was nothing, or where another process has put something in its place
	}
	return err
}

// datasetJob is a set being made.
type datasetJob struct {
	*env
	*datasetOptions
	outputs map[string]output
}

// temporary is where output name is to be written.
func (j *datasetJob) temporary(name string) string { return j.outputs[name].temporary }

func dataset(e *env, o *datasetOptions) error {
	kinds := datasetKinds()
	if o.kind == "" {
		return fmt.Errorf("need a kind of set to make: %s", strings.Join(kinds.Names(), ", "))
	}
	kind, err := kinds.Find(o.kind)
	if err != nil {
		return err
	}
	if min(o.train, o.test) < 1 || max(o.train, o.test) > maxItems {
		return fmt.Errorf("-train %d -test %d: each must be 1 to %d %s", o.train, o.test, maxItems, kind.items)
	}
	if err := checkFolder(o.out, "a set"); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	temporary, err := newTemporary(filepath.Join(o.out, kind.name))
	if err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	start := time.Now()
	err = errors.Join(o.make(ctx, e, &kind, temporary.path), temporary.remove())
	if err == nil {
		e.log.Infof("Made %d %s in %.1f s", o.train+o.test, kind.items, time.Since(start).Seconds())
	}
	return err
}

// make makes a set in a temporary folder and gives its outputs their names.
func (o *datasetOptions) make(ctx context.Context, e *env, kind *datasetKind, temporary string) error {
	j := &datasetJob{env: e, datasetOptions: o, outputs: map[string]output{}}
	for _, name := range kind.outputs {
		path := filepath.Join(o.out, kind.name+"_"+name)
		if _, err := os.Lstat(path); err == nil && !o.force {
			return fmt.Errorf("%s exists already; -force replaces it", path)
		}
		j.outputs[name] = output{path, filepath.Join(temporary, kind.name+"_"+name)}
	}
	_, err := interruptibly(ctx, func() (struct{}, error) { return struct{}{}, kind.write(ctx, j) })
	if errors.Is(err, errLeftAlone) {
		return errors.New("interrupted; nothing was left behind")
	}
	for _, name := range kind.outputs {
		if err == nil {
			err = j.outputs[name].publish(o.force)
		}
	}
	return err
}
