package dataset

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/swcaffe/swcaffe/data/digits"
	"github.com/swcaffe/swcaffe/data/shapes"
	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// imageSet is a kind of images that are rendered, or copied. newRenderer returns a function that renders image index of a seed: it appends the
// pixels, channel by channel, and for masked sets the class of every pixel, and returns the label. Every goroutine needs its own
// renderer. classes are the names of the labels or of the mask's values; nil: they have none.
type imageSet struct {
	name           string
	channels, size int
	masked         bool
	copied         bool
	classes        []string
	newRenderer    func(seed uint64) func(index uint64, pixels []byte) ([]byte, int)
}

var imageSets = []imageSet{
	{name: "digits", channels: 1, size: digits.Size, classes: strings.Split("0123456789", ""), newRenderer: func(seed uint64) func(uint64, []byte) ([]byte, int) {
		r, image := digits.NewRenderer(seed), &digits.Image{}
		return func(index uint64, pixels []byte) ([]byte, int) {
			r.Render(index, image)
			return append(pixels, image.Pixels[:]...), image.Label
		}
	}},
	{name: "shapes", channels: shapes.Channels, size: shapes.Size, classes: shapes.Classes(), newRenderer: func(seed uint64) func(uint64, []byte) ([]byte, int) {
		image := &shapes.Image{}
		return func(index uint64, pixels []byte) ([]byte, int) {
			shapes.Render(seed, index, image)
			return append(pixels, image.Pixels[:]...), image.Label
		}
	}},
	{name: "pairs", channels: 2, size: digits.Size, newRenderer: func(seed uint64) func(uint64, []byte) ([]byte, int) {
		r, a, b := digits.NewRenderer(seed), &digits.Image{}, &digits.Image{}
		return func(index uint64, pixels []byte) ([]byte, int) {
			r.RenderPair(index, a, b)
			same := 0
			if a.Label == b.Label {
				same = 1
			}
			return append(append(pixels, a.Pixels[:]...), b.Pixels[:]...), same
		}
	}},
	{name: "scenes", channels: shapes.Channels, size: shapes.SceneSize, masked: true, classes: append([]string{"ground"}, shapes.Classes()...), newRenderer: func(seed uint64) func(uint64, []byte) ([]byte, int) {
		scene := &shapes.Scene{}
		return func(index uint64, pixels []byte) ([]byte, int) {
			shapes.RenderScene(seed, index, scene)
			return append(append(pixels, scene.Pixels[:]...), scene.Classes[:]...), 0
		}
	}},
}

// hasFiles reports whether the set can be written as files in a folder for each class.
func (s imageSet) hasFiles() bool { return s.classes != nil && !s.masked }

// renderBatch is the number of images rendered between two checks for an interrupt.
const renderBatch = 2048

// rendering makes the records of an image set on all cores. The result does not depend on the number or speed of the cores: image
// i depends on its number only, and the sums for the mean are integers.
type rendering struct {
	set     imageSet
	workers []*renderWorker
	records []imageRecord
	count   uint64 // number of images in the sums
}

// imageRecord is the serialised Datum of an image and, in masked sets, of its mask.
type imageRecord [2][]byte

type renderWorker struct {
	render func(index uint64, pixels []byte) ([]byte, int)
	masked bool
	pixels []byte
	datum  *caffepb.Datum
	mask   *caffepb.Datum
	sums   []uint64 // one per pixel
	err    error    // the first error, or a panic
}

func newRendering(set imageSet, seed uint64) *rendering {
	r := &rendering{set: set}
	side := int32(set.size)
	for range runtime.GOMAXPROCS(0) {
		r.workers = append(r.workers, &renderWorker{
			render: set.newRenderer(seed), masked: set.masked,
			datum: &caffepb.Datum{Channels: proto.Int32(int32(set.channels)), Height: &side, Width: &side},
			mask:  &caffepb.Datum{Channels: proto.Int32(1), Height: &side, Width: &side, Label: proto.Int32(0)},
			sums:  make([]uint64, set.channels*set.size*set.size),
		})
	}
	return r
}

// render returns the records of n images from number first on. They are valid until the next call.
func (r *rendering) render(first uint64, n int) ([]imageRecord, error) {
	r.records = append(r.records[:0], make([]imageRecord, n)...)
	var next atomic.Int64
	var running sync.WaitGroup
	for _, w := range r.workers {
		running.Go(func() {
			defer relay.CatchError(&w.err)
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				r.records[i] = w.record(first + uint64(i))
			}
		})
	}
	running.Wait()
	r.count += uint64(n)
	for _, w := range r.workers {
		if err := relay.RaiseIn(w.err); err != nil {
			return nil, err
		}
	}
	return r.records, nil
}

func (w *renderWorker) record(index uint64) (r imageRecord) {
	pixels, label := w.render(index, w.pixels[:0])
	w.pixels = pixels
	n := len(w.sums)
	w.datum.Data, w.datum.Label = pixels[:n], proto.Int32(int32(label))
	for i, v := range pixels[:n] {
		w.sums[i] += uint64(v)
	}
	r[0] = w.marshal(index, w.datum)
	if w.masked {
		w.mask.Data = pixels[n:]
		r[1] = w.marshal(index, w.mask)
	}
	return r
}

func (w *renderWorker) marshal(index uint64, d *caffepb.Datum) []byte {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(d)
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
