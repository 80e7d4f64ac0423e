package data

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

type options struct {
	text                  string
	batch, ahead, workers int
	skip                  uint64
}

func prefetcher(t testing.TB, path string, o options) *Prefetcher {
	t.Helper()
	tr, err := transformer(t, o.text, caffepb.Phase_TRAIN)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenDB(lmdbParam(path))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPrefetcher(Config{
		Source: s, Decoder: DatumDecoder{Transformer: tr}, Transformer: tr,
		BatchSize: o.batch, Ahead: o.ahead, Workers: o.workers, Seed: 99, Skip: o.skip,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func numbered(t testing.TB, n, c, h, w int) string {
	var values [][]byte
	for i := range n {
		values = append(values, datum(t, i, c, h, w))
	}
	return writeLMDB(t, values...)
}

// take returns copies of the next n batches' data and labels.
func take(t *testing.T, p *Prefetcher, n int) (data, labels []float32) {
	t.Helper()
	for range n {
		b, err := p.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, labels = append(data, b.Data...), append(labels, b.Labels...)
	}
	return data, labels
}

func TestPrefetcherOrderAndLabels(t *testing.T) {
	path := numbered(t, 10, 1, 2, 3)
	for _, o := range []options{
		{batch: 1, ahead: 1, workers: 1}, {batch: 3, ahead: 2, workers: 2}, {batch: 10, ahead: 4, workers: 3},
		{batch: 23, ahead: 1, workers: 16}, {batch: 4, ahead: 3, workers: 2, skip: 7},
	} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			p := prefetcher(t, path, o)
			defer p.Close()
			if want := [4]int{o.batch, 1, 2, 3}; p.Shape() != want {
				t.Errorf("shape %v, want %v", p.Shape(), want)
			}
			data, labels := take(t, p, 12)
			for i, label := range labels {
				item := (i + int(o.skip)) % 10
				if label != float32(item) || data[6*i] != float32(item) || data[6*i+5] != float32(item+9) {
					t.Fatalf("item %d: label %v, values %v", i, label, data[6*i:6*i+6])
				}
			}
			if p.Position() != uint64(12*o.batch) {
				t.Errorf("position %d", p.Position())
			}
		})
	}
}

// Random crops and mirrors must depend on the item only: not on the workers, nor on whether the run was interrupted.
func TestPrefetcherIsDeterministic(t *testing.T) {
	path := numbered(t, 30, 3, 9, 8)
	o := options{text: "crop_size: 5 mirror: true scale: 0.1", batch: 7, ahead: 1, workers: 1}
	p := prefetcher(t, path, o)
	want, wantLabels := take(t, p, 20)
	p.Close()
	for _, o.workers = range []int{2, 5} {
		o.ahead = o.workers
		p := prefetcher(t, path, o)
		got, labels := take(t, p, 20)
		if !slices.Equal(got, want) || !slices.Equal(labels, wantLabels) {
			t.Fatalf("%d workers: other batches than with one", o.workers)
		}
		for _, batches := range []int{13, 0, 5} { // forwards and backwards, while batches are being prepared
			p.SetPosition(uint64(7 * batches))
			got, labels := take(t, p, 7)
			size := len(want) / 20
			if !slices.Equal(got, want[batches*size:][:7*size]) || !slices.Equal(labels, wantLabels[7*batches:][:49]) {
				t.Fatalf("%d workers, resumed at batch %d: other batches", o.workers, batches)
			}
		}
		if p.Position() != 7*12 {
			t.Errorf("position %d, want %d", p.Position(), 7*12)
		}
		p.Close()
	}
	epoch := len(want) / 20 * 30 / 7
	if slices.Equal(want[:epoch], want[epoch:2*epoch]) {
		t.Error("the second epoch has the crops and mirrors of the first")
	}
}

// Each batch takes the shape of its first item.
func TestPrefetcherShapeOfBatch(t *testing.T) {
	var values [][]byte
	for i := range 4 {
		values = append(values, datum(t, i, 1, 2+i/2, 3))
	}
	p := prefetcher(t, writeLMDB(t, values...), options{batch: 2, ahead: 2})
	defer p.Close()
	for i := range 6 {
		b, err := p.Next()
		if err != nil {
			t.Fatal(err)
		}
		if want := [4]int{2, 1, 2 + i%2, 3}; b.Shape != want || len(b.Data) != 6*want[2] {
			t.Errorf("batch %d: shape %v with %d values, want %v", i, b.Shape, len(b.Data), want)
		}
	}
}

func TestPrefetcherErrors(t *testing.T) {
	var values [][]byte
	for i := range 40 {
		values = append(values, datum(t, i, 1, 2, 2))
	}
	bad := slices.Clone(values)
	bad[25], bad[33], bad[31] = []byte("\x22\x7f"), []byte("\xff"), datum(t, 31, 1, 2, 3)
	for _, workers := range []int{1, 4} {
		p := prefetcher(t, writeLMDB(t, bad...), options{batch: 12, ahead: 3, workers: workers})
		_, labels := take(t, p, 2)
		if len(labels) != 24 {
			t.Fatalf("%d labels", len(labels))
		}
		for range 2 { // the error of the first bad item, and it sticks
			if _, err := p.Next(); err == nil || !strings.Contains(err.Error(), `item 25 (key "00000025")`) {
				t.Errorf("error %v, want item 25", err)
			}
		}
		p.SetPosition(0) // going back clears it
		take(t, p, 2)
		p.Close()
		if _, err := p.Next(); err == nil {
			t.Error("a batch after Close")
		}
	}
	bad = slices.Clone(values)
	bad[24] = []byte("\xff") // the first item of a batch
	p := prefetcher(t, writeLMDB(t, bad...), options{batch: 12})
	defer p.Close()
	take(t, p, 2)
	if _, err := p.Next(); err == nil || !strings.Contains(err.Error(), `item 24 (key "00000024")`) {
		t.Errorf("error %v, want item 24", err)
	}
}

func TestPrefetcherLeavesNoGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	path := numbered(t, 50, 1, 4, 4)
	for batches := range 4 {
		p := prefetcher(t, path, options{batch: 30, ahead: 3, workers: 4})
		take(t, p, batches)
		p.SetPosition(3)
		take(t, p, batches)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// TestPrefetcherObserved: an observer is told of every batch that is read and of the decoding of its items by each worker, and of nothing after
// the end.
func TestPrefetcherObserved(t *testing.T) {
	p := prefetcher(t, numbered(t, 100, 3, 4, 4), options{batch: 10, ahead: 2, workers: 2})
	defer p.Close()
	var mu sync.Mutex
	told := map[string]int{}
	before := time.Now()
	p.Observe(func(work string, worker int, begun time.Time) {
		mu.Lock()
		defer mu.Unlock()
		told[work]++
		if begun.Before(before) || worker < 0 || worker > 1 {
			t.Errorf("%s of worker %d at %v", work, worker, begun)
		}
	})
	take(t, p, 5)
	p.SetPosition(0) // waits for the goroutines: a batch is delivered before the worker of its last item tells the observer
	p.Observe(nil)
	mu.Lock()
	reads := told["read"]
	if reads < 5 || reads > 7 || told["decode"] < 5*9 || len(told) != 2 {
		t.Errorf("told of %v, want 5 to 7 batches, each decoded in 9 pieces and the first item", told)
	}
	mu.Unlock()
	take(t, p, 5)
	if told["read"] != reads {
		t.Errorf("told of %d batches after the end", told["read"]-reads)
	}
}

func TestPrefetcherAllocatesNothing(t *testing.T) {
	p := prefetcher(t, numbered(t, 100, 3, 16, 16), options{text: "crop_size: 12 mirror: true", batch: 25, ahead: 2})
	defer p.Close()
	take(t, p, 8)
	if n := testing.AllocsPerRun(50, func() {
		if _, err := p.Next(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a batch", n)
	}
	if p.Waited() <= 0 {
		t.Error("no time was accounted for waiting, though batches were asked for at once")
	}
}

func BenchmarkPrefetch(b *testing.B) {
	p := prefetcher(b, numbered(b, 256, 3, 256, 256), options{text: "crop_size: 227 mirror: true mean_value: 110", batch: 64, ahead: 3})
	defer p.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Next(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(64*b.N)/b.Elapsed().Seconds(), "images/s")
}

// brittle is a Decoder that panics at some labels.
type brittle struct {
	DatumDecoder
	at func(label int) bool
}

func (b brittle) Decode(r *Record, s *Scratch) (Pixels, int, error) {
	p, label, err := b.DatumDecoder.Decode(r, s)
	if b.at(label) {
		panic(fmt.Sprintf("label %d", label))
	}
	return p, label, err
}

// countedBuffers counts the records that bring no memory of their own.
type countedBuffers struct {
	Source
	empty int
}

func (c *countedBuffers) Next(r *Record) error {
	if cap(r.Raw) == 0 {
		c.empty++
	}
	return c.Source.Next(r)
}

// TestEncodedItems: batches that are decoded keep no encoded items; two batches may hold some, one that is read and one that is decoded.
func TestEncodedItems(t *testing.T) {
	const batch, ahead = 50, 8
	p := prefetcher(t, numbered(t, 10, 1, 2, 3), options{batch: batch, ahead: ahead, workers: 2})
	defer p.Close()
	counted := &countedBuffers{Source: p.Source}
	p.Source = counted
	take(t, p, 5*ahead)
	if counted.empty > 2*batch {
		t.Errorf("%d buffers for %d batches of %d, want those of two", counted.empty, ahead, batch)
	}
}

// TestPrefetchPanic: a panic in the reading goroutine (the first item of a batch), or in a worker, is raised by Next, and by every Next after
// it. The batches before are delivered.
func TestPrefetchPanic(t *testing.T) {
	path := numbered(t, 10, 1, 2, 2) // items have their numbers as labels
	for _, bad := range []int{6, 7, 8} {
		p := prefetcher(t, path, options{batch: 3, ahead: 2, workers: 3})
		p.Decoder = brittle{p.Decoder.(DatumDecoder), func(label int) bool { return label == bad }}
		take(t, p, 2)
		for range 2 {
			var carried *relay.Panic
			func() {
				defer relay.Catch(&carried)
				_, err := p.Next()
				t.Errorf("item %d: no panic, error %v", bad, err)
			}()
			if text := fmt.Sprint(carried); !strings.Contains(text, fmt.Sprintf("label %d\n", bad)) || !strings.Contains(text, "brittle.Decode") {
				t.Errorf("item %d: %s", bad, text)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
