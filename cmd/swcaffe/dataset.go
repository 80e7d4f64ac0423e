package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/lmdb"
	swproto "github.com/swcaffe/swcaffe/proto"
	"google.golang.org/protobuf/proto"
)

var datasetCommand = command{
	name:    "dataset",
	summary: "render a labelled training set: digits or shapes",
	args:    "digits|shapes [-out DIR] [-train N] [-test N] [-seed S] [-force]",
	example: "swcaffe dataset digits -out data -train 20000 -test 4000",
	words:   []string{"kind"},
	long: `Renders images and writes them to two LMDBs, DIR/KIND_train_lmdb and DIR/KIND_test_lmdb, and the mean of the training
images to DIR/KIND_mean.binaryproto. digits: 28x28 grey, for models/lenet. shapes: 32x32 colour in ten classes, for
models/cifar10_quick. The same seed gives the same images, on any number of cores.`,
	setup: func(fs *flag.FlagSet) func(*env) error {
		var o datasetOptions
		fs.StringVar(&o.kind, "kind", "", "what to render: digits or shapes")
		fs.StringVar(&o.out, "out", "data", "the `DIR` to write to")
		fs.IntVar(&o.train, "train", 20000, "the number of training images")
		fs.IntVar(&o.test, "test", 4000, "the number of test images")
		fs.Uint64Var(&o.seed, "seed", 1, "the seed of all images")
		fs.BoolVar(&o.force, "force", false, "replace databases that are there already")
		return func(e *env) error { return dataset(e, &o) }
	},
}

type datasetOptions struct {
	kind, out   string
	train, test int
	seed        uint64
	force       bool
}

// firstTest is the number of the first test image, so large that no training image reaches it.
const firstTest = 1 << 32

// maxImages is what the eight digits of a key can count.
const maxImages = 100_000_000

// part is one of a set's two databases. It is written under a temporary name and gets its own when all is done.
type part struct {
	name, path, temporary string
	first                 uint64
	n                     int
}

func dataset(e *env, o *datasetOptions) error {
	set, err := findImageSet(o.kind)
	if err != nil {
		return err
	}
	if min(o.train, o.test) < 1 || max(o.train, o.test) > maxImages {
		return fmt.Errorf("-train %d -test %d: each must be 1 to %d images", o.train, o.test, maxImages)
	}
	parts := []part{o.part("train", 0, o.train), o.part("test", firstTest, o.test)}
	for _, p := range parts {
		if _, err := os.Lstat(p.path); err == nil && !o.force {
			return fmt.Errorf("%s exists already; -force replaces it", p.path)
		}
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	start := time.Now()
	mean, err := renderParts(ctx, e, set, o, parts)
	for _, p := range parts {
		if err == nil {
			err = p.publish()
		}
	}
	if err != nil {
		for _, p := range parts {
			err = errors.Join(err, os.RemoveAll(p.temporary))
		}
		return err
	}
	meanPath := filepath.Join(o.out, o.kind+"_mean.binaryproto")
	if err := writeMean(meanPath, mean); err != nil {
		return err
	}
	e.log.Infof("Rendered %d images in %.1f s; the mean image is %s", o.train+o.test, time.Since(start).Seconds(), meanPath)
	return nil
}

func (o *datasetOptions) part(name string, first uint64, n int) part {
	path := filepath.Join(o.out, o.kind+"_"+name+"_lmdb")
	return part{name: name, path: path, temporary: path + ".partial", first: first, n: n}
}

func (p *part) publish() error {
	if err := os.RemoveAll(p.path); err != nil {
		return err
	}
	return os.Rename(p.temporary, p.path)
}

// renderParts writes both databases under their temporary names and returns the mean of the training images.
func renderParts(ctx context.Context, e *env, set imageSet, o *datasetOptions, parts []part) (*blob.Blob, error) {
	images := newRendering(set, o.seed)
	mean := blob.New(1, set.channels, set.size, set.size)
	for _, p := range parts {
		e.log.Infof("Rendering %d %s images of %s, seed %d, into %s", p.n, p.name, o.kind, o.seed, p.path)
		if err := os.RemoveAll(p.temporary); err != nil {
			return nil, err
		}
		if err := writePart(ctx, e, images, p); err != nil {
			return nil, err
		}
		if p.first != firstTest {
			images.mean(mean.Data())
		}
	}
	return mean, nil
}

// writePart renders a part's images and puts them into its database, in their order.
func writePart(ctx context.Context, e *env, images *rendering, p part) error {
	w, err := lmdb.Create(p.temporary)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing once the database is closed
	bar := newProgress(e.stderr, p.n, p.name+" images")
	defer bar.finish()
	for at := 0; at < p.n; {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d %s images; nothing was left behind", at, p.n, p.name)
		}
		values, err := images.render(p.first+uint64(at), min(p.n-at, renderBatch))
		if err != nil {
			return err
		}
		for i, value := range values {
			if err := w.Put(fmt.Appendf(nil, "%08d", at+i), value); err != nil {
				return err
			}
		}
		at += len(values)
		bar.add(len(values))
	}
	return w.Close()
}

// writeMean writes a mean image as Caffe's compute_image_mean does: with the old four numbers for a shape.
func writeMean(path string, mean *blob.Blob) error {
	p := mean.ToProto(false)
	dims := p.GetShape().GetDim()
	p.Shape = nil
	p.Num, p.Channels = proto.Int32(int32(dims[0])), proto.Int32(int32(dims[1]))
	p.Height, p.Width = proto.Int32(int32(dims[2])), proto.Int32(int32(dims[3]))
	return swproto.WriteBinary(path, p)
}
