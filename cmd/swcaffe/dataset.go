package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/digits"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/data/shapes"
	"github.com/swcaffe/swcaffe/internal/suggest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

var datasetCommand = command{
	name:    "dataset",
	summary: "render a labelled training set: digits or shapes",
	args:    "digits|shapes [-out DIR] [-train N] [-test N] [-seed S]",
	example: "swcaffe dataset digits -out data -train 20000 -test 4000",
	word:    "kind",
	long: `Renders images and writes them to two LMDBs, DIR/KIND_train_lmdb and DIR/KIND_test_lmdb, and their mean to
DIR/KIND_mean.binaryproto. digits: 28x28 grey, for models/lenet. shapes: 32x32 colour in ten classes, for
models/cifar10_quick. The same seed gives the same images.`,
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

// renderer makes image index of a set; every worker has its own.
type renderer func(index uint64, d *caffepb.Datum)

// imageSet is a kind of images.
type imageSet struct {
	channels, size int
	renderer       func(seed uint64) renderer
}

var imageSets = map[string]imageSet{
	"digits": {1, digits.Size, func(seed uint64) renderer {
		r, image := digits.NewRenderer(seed), &digits.Image{}
		return func(index uint64, d *caffepb.Datum) {
			r.Render(index, image)
			d.Data, d.Label = append(d.Data[:0], image.Pixels[:]...), proto.Int32(int32(image.Label))
		}
	}},
	"shapes": {shapes.Channels, shapes.Size, func(seed uint64) renderer {
		image := &shapes.Image{}
		return func(index uint64, d *caffepb.Datum) {
			shapes.Render(seed, index, image)
			d.Data, d.Label = append(d.Data[:0], image.Pixels[:]...), proto.Int32(int32(image.Label))
		}
	}},
}

func dataset(e *env, o *datasetOptions) error {
	set, ok := imageSets[o.kind]
	if !ok {
		kinds := []string{"digits", "shapes"}
		return fmt.Errorf("-kind %q%s (kinds: %s)", o.kind, suggest.DidYouMean(o.kind, kinds), suggest.List(kinds))
	}
	if o.train < 1 || o.test < 1 {
		return fmt.Errorf("-train %d -test %d: at least one image each is needed", o.train, o.test)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	start := time.Now()
	sums := make([]float64, set.channels*set.size*set.size)
	// Test images are numbered from 2^32 on, so that no number of training images reaches them.
	for _, part := range []struct {
		name  string
		first uint64
		n     int
		sums  []float64
	}{{"train", 0, o.train, sums}, {"test", 1 << 32, o.test, nil}} {
		path := filepath.Join(o.out, o.kind+"_"+part.name+"_lmdb")
		if err := o.clear(path); err != nil {
			return err
		}
		e.log.Infof("Rendering %d %s (%s, seed %d) into %s", part.n, o.kind, part.name, o.seed, path)
		if err := writeSet(ctx, e, set, path, o.seed, part.first, part.n, part.sums); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	mean := filepath.Join(o.out, o.kind+"_mean.binaryproto")
	if err := writeMean(mean, set, sums, o.train); err != nil {
		return err
	}
	e.log.Infof("Rendered %d images in %.1f s; mean image in %s", o.train+o.test, time.Since(start).Seconds(), mean)
	return nil
}

// clear makes room for a database, if it may.
func (o *datasetOptions) clear(path string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if !o.force {
		return fmt.Errorf("%s exists already; -force replaces it", path)
	}
	return os.RemoveAll(path)
}

// renderBatch is how many images a worker renders at a time.
const renderBatch = 256

// writeSet renders n images on all cores and writes them in their order.
func writeSet(ctx context.Context, e *env, set imageSet, path string, seed, first uint64, n int, sums []float64) error {
	w, err := lmdb.Create(path)
	if err != nil {
		return err
	}
	bar := newProgress(e.stderr, n, "images")
	batches := renderBatches(ctx, set, seed, first, n)
	for at := 0; at < n; {
		batch, ok := <-<-batches
		if !ok {
			w.Abort()
			return errors.New("interrupted; nothing was left behind")
		}
		for _, value := range batch {
			if err := w.Put(fmt.Appendf(nil, "%08d", at), value); err != nil {
				w.Abort()
				return err
			}
			if sums != nil {
				if err := addDatum(sums, value); err != nil {
					w.Abort()
					return err
				}
			}
			at++
		}
		bar.add(len(batch))
	}
	bar.finish()
	return w.Close()
}

// renderBatches renders in parallel and hands batches out in order: each as a channel that will have it. A batch's
// channel is closed without one when ctx ends.
func renderBatches(ctx context.Context, set imageSet, seed, first uint64, n int) <-chan (<-chan [][]byte) {
	type job struct {
		from, to int
		out      chan [][]byte
	}
	workers := runtime.GOMAXPROCS(0)
	jobs, order := make(chan job), make(chan (<-chan [][]byte), 2*workers)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			render := set.renderer(seed)
			d := &caffepb.Datum{Channels: proto.Int32(int32(set.channels)), Height: proto.Int32(int32(set.size)), Width: proto.Int32(int32(set.size))}
			for j := range jobs {
				var batch [][]byte
				for i := j.from; i < j.to && ctx.Err() == nil; i++ {
					render(first+uint64(i), d)
					value, err := proto.Marshal(d)
					if err != nil {
						panic("swcaffe: datum: " + err.Error())
					}
					batch = append(batch, value)
				}
				if len(batch) == j.to-j.from {
					j.out <- batch
				}
				close(j.out)
			}
		})
	}
	go func() {
		defer close(order)
		for from := 0; from < n; from += renderBatch {
			j := job{from, min(n, from+renderBatch), make(chan [][]byte, 1)}
			order <- j.out
			jobs <- j
		}
		close(jobs)
		running.Wait()
	}()
	return order
}

func addDatum(sums []float64, value []byte) error {
	d := &caffepb.Datum{}
	if err := proto.Unmarshal(value, d); err != nil {
		return err
	}
	for i, v := range d.Data {
		sums[i] += float64(v)
	}
	return nil
}

func writeMean(path string, set imageSet, sums []float64, n int) error {
	b := blob.New(1, set.channels, set.size, set.size)
	for i, s := range sums {
		b.Data()[i] = float32(s / float64(n))
	}
	p := b.ToProto(false)
	p.Shape = nil
	p.Num, p.Channels = proto.Int32(1), proto.Int32(int32(set.channels))
	p.Height, p.Width = proto.Int32(int32(set.size)), proto.Int32(int32(set.size))
	return swproto.WriteBinary(path, p)
}
