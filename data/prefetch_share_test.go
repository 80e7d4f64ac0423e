package data

import (
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestPrefetcherShares: workers with parts of every batch together deliver the items of a single worker, random crops and mirrors
// included, also from a position in the middle.
func TestPrefetcherShares(t *testing.T) {
	path := numbered(t, 30, 3, 9, 8)
	const batch, batches, text = 7, 11, "crop_size: 5 mirror: true"
	alone := prefetcher(t, path, options{text: text, batch: batch, ahead: 2, workers: 2})
	defer alone.Close()
	want, wantLabels := take(t, alone, batches)
	size := len(want) / (batch * batches)
	for _, cuts := range [][]int{{0, 7}, {0, 3, 7}, {0, 2, 4, 7}} {
		for k := range len(cuts) - 1 {
			first, count := cuts[k], cuts[k+1]-cuts[k]
			p := share(t, path, text, count, first, batch)
			for _, from := range []int{0, 4} {
				p.SetPosition(uint64(from * batch))
				data, labels := take(t, p, batches-from)
				for b := range batches - from {
					at := (from+b)*batch + first
					if !slices.Equal(labels[b*count:(b+1)*count], wantLabels[at:at+count]) ||
						!slices.Equal(data[b*count*size:(b+1)*count*size], want[at*size:(at+count)*size]) {
						t.Fatalf("part %d of %v, batch %d from %d: other items than one worker alone gets", k, cuts, b, from)
					}
				}
			}
			if p.Position() != batches*batch {
				t.Errorf("part %d of %v: position %d, want %d", k, cuts, p.Position(), batches*batch)
			}
			p.Close()
		}
	}
}

// TestShareNamesItsFirst: a worker whose first item is bad names the item's position in the stream.
func TestShareNamesItsFirst(t *testing.T) {
	tr, err := transformer(t, "", caffepb.Phase_TRAIN)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenDB(lmdbParam(writeLMDB(t, datum(t, 0, 1, 2, 2), datum(t, 1, 1, 2, 2), []byte("\xff"))))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = NewPrefetcher(Config{Source: s, Decoder: DatumDecoder{Transformer: tr}, Transformer: tr, BatchSize: 1, First: 2, Stride: 3})
	if err == nil || !strings.Contains(err.Error(), `item 2 (key "00000002")`) {
		t.Errorf("got %v, want item 2", err)
	}
}

func share(t *testing.T, path, text string, count, first, stride int) *Prefetcher {
	t.Helper()
	tr, err := transformer(t, text, caffepb.Phase_TRAIN)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenDB(lmdbParam(path))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPrefetcher(Config{
		Source: s, Decoder: DatumDecoder{Transformer: tr}, Transformer: tr, BatchSize: count, First: first, Stride: stride, Ahead: 2, Seed: 99,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
