package data

import (
	"errors"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/augment"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// Decoder turns a record into pixels and a label. Several goroutines call it at once, each with its own record and scratch. The
// pixels may alias both.
type Decoder interface {
	Decode(r *Record, scratch *Scratch) (p Pixels, label int, err error)
}

// Scratch is memory that a goroutine reuses from one Decode to the next.
type Scratch struct {
	Datum Datum
	file  []byte
}

// readFile returns the content of a file, until the next call.
func (s *Scratch) readFile(path string) ([]byte, error) {
	return regular.ReadFileInto(path, func(n int) []byte {
		if cap(s.file) < n {
			s.file = make([]byte, n)
		}
		return s.file[:n]
	})
}

// DatumDecoder decodes records that hold a serialised Datum.
type DatumDecoder struct {
	Transformer *Transformer
	// Augmenter, if not nil, resizes and damages the images. Seed is that of the prefetcher.
	Augmenter *augment.Augmenter
	Seed      uint64
}

// Decode implements Decoder.
func (d DatumDecoder) Decode(r *Record, s *Scratch) (Pixels, int, error) {
	if err := s.Datum.Unmarshal(r.Raw); err != nil {
		return Pixels{}, 0, err
	}
	if d.Augmenter == nil {
		p, err := s.Datum.Pixels(d.Transformer.Mode())
		r.Repaired = s.Datum.Repaired
		return p, s.Datum.Label, err
	}
	im, err := s.Datum.image(d.Transformer.Mode())
	if err != nil {
		return Pixels{}, 0, err
	}
	r.Repaired = s.Datum.Repaired
	p, err := augmented(im, d.Augmenter, d.Seed, r.Item)
	return p, s.Datum.Label, err
}

// augmented returns an image after the steps of an augmenter.
func augmented(im *imageio.Image, a *augment.Augmenter, seed, item uint64) (Pixels, error) {
	im, _, _, err := a.Of(seed, item).Apply(im, nil, augment.NewDraws(seed, item))
	if err != nil {
		return Pixels{}, err
	}
	return imagePixels(im), nil
}

// Config configures a Prefetcher.
type Config struct {
	Source      Source // owned by the Prefetcher from now on
	Decoder     Decoder
	Transformer *Transformer
	BatchSize   int
	Ahead       int    // number of batches prepared in advance
	Seed        uint64 // seed of random crops and mirrors
	Skip        uint64 // number of records to skip at the start
	// First and Stride divide a stream among workers: batch k is the BatchSize items from k*Stride + First on. Stride 0 means
	// BatchSize.
	First, Stride int
	Workers       int // number of decoding goroutines; 0: one per processor
	// Repaired, if not nil, is called for every item whose image was damaged and read all the same, with its file or database and key, and the damage.
	// Several goroutines call it.
	Repaired func(name, damage string)
}

// Batch is BatchSize transformed items: Data is items x channels x height x width, Labels has one value an item.
type Batch struct {
	Shape  [4]int
	Data   []float32
	Labels []float32

	first   uint64 // position of item 0 in the stream
	items   uint64 // of the source, 0 if it was not known yet
	records []Record
	pending sync.WaitGroup
	mu      sync.Mutex
	badItem int
	err     error // error of the first bad item
}

// Objects returns the objects of an item, of an AnnotatedDecoder.
func (b *Batch) Objects(item int) []annotation.Object { return b.records[item].Objects }

// PixelLabels returns the labels of an item's pixels, of a PairDecoder.
func (b *Batch) PixelLabels(item int) []float32 { return b.records[item].Labels }

// Size returns height and width of an item's image before it was cropped, of a PairDecoder.
func (b *Batch) Size(item int) (height, width int) {
	return b.records[item].Size[0], b.records[item].Size[1]
}

// keyNumber matches the number that convert_imageset puts before the name of a file in a key.
var keyNumber = regexp.MustCompile(`^[0-9]{8}_(.+)$`)

// Name returns the name of an item, for messages: the path of its file, or its key in a database without the number before it.
func (b *Batch) Name(item int) string {
	r := &b.records[item]
	if len(r.Key) == 0 {
		return r.Name
	}
	key := string(r.Key)
	if !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
		return strconv.Quote(key)
	}
	return keyNumber.ReplaceAllString(key, "$1")
}

// Prefetcher prepares batches ahead of their use. It reuses batches with their buffers.
type Prefetcher struct {
	Config
	shape    [4]int
	position uint64 // items delivered, to all workers
	items    uint64 // of the source, 0 if not known yet
	waited   time.Duration
	scratch  Scratch // scratch of the reading goroutine
	raws     buffers // of decoded records, for the next ones
	observer atomic.Pointer[Observer]

	batches []*Batch
	held    *Batch // the batch returned by the last Next
	err     error

	running bool
	stop    chan struct{}
	free    chan *Batch // batches free to be filled
	ready   chan *Batch // batches in order, full or being filled
	tasks   chan task
	done    sync.WaitGroup
}

// NewPrefetcher reads the first record to find the shape of a batch. The first Next starts the goroutines.
func NewPrefetcher(c Config) (_ *Prefetcher, err error) {
	defer pages.Catch(&err)
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.Stride == 0 {
		c.Stride = c.BatchSize
	}
	p := &Prefetcher{Config: c}
	var r Record
	if err := p.inferShape(&r); err != nil {
		return nil, err
	}
	p.Ahead = max(2, c.Ahead)
	pages.Demand(p.Values())
	for range p.Ahead {
		p.batches = append(p.batches, &Batch{records: make([]Record, c.BatchSize), Labels: make([]float32, c.BatchSize)})
	}
	return p, nil
}

func (p *Prefetcher) inferShape(r *Record) error {
	if err := p.Source.Seek(p.Skip + uint64(p.First)); err != nil {
		return err
	}
	if err := p.Source.Next(r); err != nil {
		return err
	}
	r.Item = uint64(p.First)
	pixels, _, err := p.Decoder.Decode(r, &p.scratch)
	if err != nil {
		return itemError(r, uint64(p.First), err)
	}
	shape, err := p.Transformer.Shape(pixels)
	if err != nil {
		return itemError(r, uint64(p.First), err)
	}
	p.shape = [4]int{p.BatchSize, shape[0], shape[1], shape[2]}
	p.items = sizeOf(p.Source)
	return nil
}

// sizeOf returns the number of a source's items, 0 if it is not known.
func sizeOf(s Source) uint64 {
	if sized, ok := s.(interface{ Len() int }); ok {
		return uint64(sized.Len())
	}
	return 0
}

// Items returns the number of the source's items, 0 if it is not known. If it is to be counted and the source can be, Items counts up to most
// items, and returns 0 if there are more.
func (p *Prefetcher) Items(most uint64) (uint64, error) {
	counted, ok := p.Source.(interface {
		Count(most uint64) (uint64, error)
	})
	if p.items > 0 || most == 0 || !ok {
		return p.items, nil
	}
	p.halt()
	var err error
	p.items, err = counted.Count(most)
	return p.items, err
}

// valuesOf returns the number of float32 values that an item's memory corresponds to, bookkeeping of its record included.
func valuesOf(shape [4]int) int {
	return shape[1]*shape[2]*shape[3] + int(unsafe.Sizeof(Record{}))/4 + 1
}

// Values returns the size of all batches' memory, in float32 values.
func (p *Prefetcher) Values() float64 {
	return float64(p.Ahead) * float64(p.BatchSize) * float64(valuesOf(p.shape))
}

// Shape returns items x channels x height x width of the first batch. Later batches may differ: the first item of each decides.
func (p *Prefetcher) Shape() [4]int { return p.shape }

// Position returns the number of items delivered to all workers that share the stream.
func (p *Prefetcher) Position() uint64 { return p.position }

// Waited returns the total time that Next has waited for data.
func (p *Prefetcher) Waited() time.Duration { return p.waited }

// SetPosition moves the stream: the next batch starts with item items + First.
func (p *Prefetcher) SetPosition(items uint64) {
	p.halt()
	p.position, p.err = items, nil
}

// Next returns the next batch, which is valid until the following Next. After an error, every Next returns it. A panic of a goroutine of the
// Prefetcher is raised by Next.
func (p *Prefetcher) Next() (*Batch, error) {
	if p.err != nil {
		return nil, relay.RaiseIn(p.err)
	}
	if !p.running {
		p.start()
	}
	if p.held != nil {
		p.free <- p.held
		p.held = nil
	}
	begin := time.Now()
	b := <-p.ready
	b.pending.Wait()
	p.waited += time.Since(begin)
	if b.err != nil {
		p.err = b.err
		p.halt()
		return nil, relay.RaiseIn(p.err)
	}
	p.held, p.items = b, max(p.items, b.items)
	p.position += uint64(p.Stride)
	return b, nil
}

// Close stops the goroutines and closes the source.
func (p *Prefetcher) Close() error {
	p.halt()
	p.err = errors.New("data: batch asked for after Close")
	return p.Source.Close()
}

func (p *Prefetcher) start() {
	p.running = true
	p.stop = make(chan struct{})
	p.free = make(chan *Batch, len(p.batches))
	p.ready = make(chan *Batch, len(p.batches))
	p.tasks = make(chan task, p.Workers)
	for _, b := range p.batches {
		p.free <- b
	}
	p.done.Go(p.read)
	for k := range p.Workers {
		p.done.Go(func() { p.work(k) })
	}
}

// halt stops the goroutines and waits for them. start begins again at the consumer's position.
func (p *Prefetcher) halt() {
	if !p.running {
		return
	}
	close(p.stop)
	p.done.Wait()
	p.running, p.held = false, nil
}
