package data

import (
	"fmt"
	"sync"

	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// task asks a worker for the items from <= i < to of a batch.
type task struct {
	batch    *Batch
	from, to int
}

// read fills batches with records in stream order and hands their items to the workers. No other goroutine uses the Source.
func (p *Prefetcher) read() {
	defer close(p.tasks)
	at := p.position + uint64(p.First)
	failed := p.seek(at)
	for {
		var b *Batch
		select {
		case b = <-p.free:
		case <-p.stop:
			return
		}
		b.first, b.err = at, failed
		if failed == nil {
			begun := p.clock()
			b.err = p.fill(b)
			p.tell("read", 0, begun)
		}
		if b.err == nil {
			b.pending.Add(p.BatchSize - 1)
		}
		p.ready <- b
		if b.err != nil || !p.dispatch(b) {
			return
		}
		at += uint64(p.Stride)
		if p.Stride != p.BatchSize {
			failed = p.seek(at)
		}
	}
}

// seek moves the source to an item of the stream.
func (p *Prefetcher) seek(item uint64) (err error) {
	defer relay.CatchError(&err)
	return p.Source.Seek(p.Skip + item)
}

// fill reads the records of b and transforms its first item, which decides the batch's shape.
func (p *Prefetcher) fill(b *Batch) (err error) {
	defer relay.CatchError(&err)
	for i := range b.records {
		b.records[i].Item, b.records[i].Raw = b.first+uint64(i), p.raws.take()
		if err := p.Source.Next(&b.records[i]); err != nil {
			return err
		}
	}
	b.items = sizeOf(p.Source)
	pixels, label, err := p.Decoder.Decode(&b.records[0], &p.scratch)
	if err != nil {
		return itemError(&b.records[0], b.first, err)
	}
	p.tellRepaired(&b.records[0])
	shape, err := p.Transformer.Shape(pixels)
	if err != nil {
		return itemError(&b.records[0], b.first, err)
	}
	b.Shape = [4]int{p.BatchSize, shape[0], shape[1], shape[2]}
	count := p.BatchSize * shape[0] * shape[1] * shape[2]
	if cap(b.Data) < count {
		if err := pages.Room(4 * float64(p.BatchSize) * float64(shape[0]) * float64(shape[1]) * float64(shape[2])); err != nil {
			return itemError(&b.records[0], b.first, err)
		}
		b.Data = make([]float32, count)
	}
	b.Data = b.Data[:count]
	b.Labels[0] = float32(label)
	return p.transform(b, 0, pixels)
}

// buffers keeps memory for records between their decoding and the next read. So only batches that are being read or decoded hold encoded items,
// not those that wait for the consumer.
type buffers struct {
	mu   sync.Mutex
	free [][]byte
}

// take returns a buffer with any content, or nil.
func (b *buffers) take() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.free) - 1
	if last < 0 {
		return nil
	}
	buffer := b.free[last]
	b.free = b.free[:last]
	return buffer
}

func (b *buffers) put(buffer []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = append(b.free, buffer)
}

// dispatch hands the items from 1 on to the workers, in tasks small enough to keep all workers busy.
func (p *Prefetcher) dispatch(b *Batch) bool {
	piece := max(1, p.BatchSize/(4*p.Workers))
	for from := 1; from < p.BatchSize; from += piece {
		select {
		case p.tasks <- task{b, from, min(from+piece, p.BatchSize)}:
		case <-p.stop:
			b.pending.Add(from - p.BatchSize)
			return false
		}
	}
	return true
}

// work decodes and transforms items, as one of the workers. Two workers never write to the same part of a batch.
func (p *Prefetcher) work(worker int) {
	var scratch Scratch
	for t := range p.tasks {
		begun := p.clock()
		for i := t.from; i < t.to; i++ {
			if err := p.item(t.batch, i, &scratch); err != nil {
				t.batch.fail(i, err)
			}
			t.batch.pending.Done()
		}
		p.tell("decode", worker, begun)
	}
}

// item decodes and transforms one item of a batch.
func (p *Prefetcher) item(b *Batch, i int, scratch *Scratch) (err error) {
	defer relay.CatchError(&err)
	pixels, label, err := p.Decoder.Decode(&b.records[i], scratch)
	if err != nil {
		return itemError(&b.records[i], b.first+uint64(i), err)
	}
	p.tellRepaired(&b.records[i])
	b.Labels[i] = float32(label)
	return p.transform(b, i, pixels)
}

// tellRepaired calls Repaired for an item with damage.
func (p *Prefetcher) tellRepaired(r *Record) {
	if r.Repaired != "" && p.Repaired != nil {
		p.Repaired(r.title(), r.Repaired)
	}
}

// title names a record's image: its file, or its database and key.
func (r *Record) title() string {
	if r.Key != nil {
		return fmt.Sprintf("%s: key %q", r.Name, r.Key)
	}
	return r.Name
}

func (p *Prefetcher) transform(b *Batch, i int, pixels Pixels) error {
	shape := [3]int(b.Shape[1:])
	size := shape[0] * shape[1] * shape[2]
	item := b.first + uint64(i)
	if err := p.Transformer.Transform(b.Data[i*size:(i+1)*size], shape, pixels, p.Seed, item); err != nil {
		return itemError(&b.records[i], item, err)
	}
	pixels.Recycle()
	p.raws.put(b.records[i].Raw)
	b.records[i].Raw = nil
	return nil
}

// fail keeps the error of the first bad item, in whatever order the workers report errors.
func (b *Batch) fail(item int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil || item < b.badItem {
		b.badItem, b.err = item, err
	}
}

// itemError adds the record's name and its line in the list, or the item's position, to an error.
func itemError(r *Record, item uint64, err error) error {
	if r.List != "" {
		return fmt.Errorf("%s:%d: %s: %w", r.List, r.Line, r.Name, err)
	}
	if r.Key != nil {
		return fmt.Errorf("%s: item %d (key %q): %w", r.Name, item, r.Key, err)
	}
	return fmt.Errorf("%s: item %d: %w", r.Name, item, err)
}
