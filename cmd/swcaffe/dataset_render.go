package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/swcaffe/swcaffe/data/digits"
	"github.com/swcaffe/swcaffe/data/shapes"
	"github.com/swcaffe/swcaffe/internal/suggest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// imageSet is a kind of images. newRenderer returns a function that appends image index of a seed to pixels, channel by
// channel, and returns its label too; each goroutine needs its own.
type imageSet struct {
	name           string
	channels, size int
	newRenderer    func(seed uint64) func(index uint64, pixels []byte) ([]byte, int)
}

var imageSets = []imageSet{
	{"digits", 1, digits.Size, func(seed uint64) func(uint64, []byte) ([]byte, int) {
		r, image := digits.NewRenderer(seed), &digits.Image{}
		return func(index uint64, pixels []byte) ([]byte, int) {
			r.Render(index, image)
			return append(pixels, image.Pixels[:]...), image.Label
		}
	}},
	{"shapes", shapes.Channels, shapes.Size, func(seed uint64) func(uint64, []byte) ([]byte, int) {
		image := &shapes.Image{}
		return func(index uint64, pixels []byte) ([]byte, int) {
			shapes.Render(seed, index, image)
			return append(pixels, image.Pixels[:]...), image.Label
		}
	}},
}

func findImageSet(name string) (imageSet, error) {
	var names []string
	for _, s := range imageSets {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	if name == "" {
		return imageSet{}, fmt.Errorf("need a kind of images to render: %s", suggest.List(names))
	}
	return imageSet{}, fmt.Errorf("unknown kind of images %q%s (kinds: %s)", name, suggest.DidYouMean(name, names), suggest.List(names))
}

// renderBatch is how many images are rendered between two looks at the signals.
const renderBatch = 2048

// rendering makes the records of an image set on all cores. Image i depends on its number alone, and values and sums
// are kept by image and in whole numbers, so that neither the number of cores nor their speed shows in the result.
type rendering struct {
	set     imageSet
	workers []*renderWorker
	values  [][]byte
	count   uint64 // images that the workers' sums hold
}

type renderWorker struct {
	render func(index uint64, pixels []byte) ([]byte, int)
	datum  *caffepb.Datum
	sums   []uint64 // by pixel
	err    error
}

func newRendering(set imageSet, seed uint64) *rendering {
	r := &rendering{set: set}
	side := int32(set.size)
	for range runtime.GOMAXPROCS(0) {
		r.workers = append(r.workers, &renderWorker{
			render: set.newRenderer(seed),
			datum:  &caffepb.Datum{Channels: proto.Int32(int32(set.channels)), Height: &side, Width: &side},
			sums:   make([]uint64, set.channels*set.size*set.size),
		})
	}
	return r
}

// render returns n serialised Datums from image number first on. They are valid until the next call.
func (r *rendering) render(first uint64, n int) ([][]byte, error) {
	r.values = append(r.values[:0], make([][]byte, n)...)
	var next atomic.Int64
	var running sync.WaitGroup
	for _, w := range r.workers {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				r.values[i] = w.record(first + uint64(i))
			}
		})
	}
	running.Wait()
	r.count += uint64(n)
	for _, w := range r.workers {
		if w.err != nil {
			return nil, w.err
		}
	}
	return r.values, nil
}

func (w *renderWorker) record(index uint64) []byte {
	pixels, label := w.render(index, w.datum.Data[:0])
	w.datum.Data, w.datum.Label = pixels, proto.Int32(int32(label))
	for i, v := range pixels {
		w.sums[i] += uint64(v)
	}
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(w.datum)
	if err != nil {
		w.err = fmt.Errorf("image %d: %w", index, err)
	}
	return value
}

// mean writes the mean of all images so far to dst.
func (r *rendering) mean(dst []float32) {
	for i := range dst {
		var sum uint64
		for _, w := range r.workers {
			sum += w.sums[i]
		}
		dst[i] = float32(float64(sum) / float64(r.count))
	}
}
