package schedule

import (
	"math/rand/v2"
	"testing"
)

// checkPacked goes through the steps and fails if spans in use overlap.
func checkPacked(t *testing.T, spans []span, offsets []int, total int) {
	t.Helper()
	steps := 0
	for _, s := range spans {
		steps = max(steps, s.last+1)
	}
	for step := range steps {
		owner := make([]int, total)
		for i, s := range spans {
			if step < s.first || step > s.last {
				continue
			}
			for at := offsets[i]; at < offsets[i]+s.size; at++ {
				if owner[at] != 0 {
					t.Fatalf("spans %d and %d both stand at %d in step %d", owner[at]-1, i, at, step)
				}
				owner[at] = i + 1
			}
		}
	}
}

func TestPack(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spans []span
		total int
	}{
		{"nothing", nil, 0},
		{"one after the other", []span{{5, 0, 1}, {7, 2, 3}, {3, 4, 4}}, 7},
		{"a chain, of which two meet", []span{{4, 0, 1}, {4, 1, 2}, {4, 2, 3}, {4, 3, 4}}, 8},
		{"the last step of one is the first of the other", []span{{4, 0, 2}, {6, 2, 3}}, 10},
		{"a gap between two is used", []span{{10, 0, 9}, {8, 0, 3}, {9, 3, 9}, {8, 4, 9}}, 27},
		{"forward and back", []span{{9, 0, 7}, {7, 1, 6}, {5, 2, 5}, {6, 5, 6}, {8, 6, 7}}, 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			offsets, total := pack(tt.spans)
			checkPacked(t, tt.spans, offsets, total)
			if total != tt.total {
				t.Errorf("%d values, expected %d", total, tt.total)
			}
		})
	}
}

// TestPackRandomSpans: no spans overlap, and the average total is hardly above the peak.
func TestPackRandomSpans(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 7))
	var packed, needed int
	for range 100 {
		spans := make([]span, 1+random.IntN(60))
		for i := range spans {
			first := random.IntN(40)
			spans[i] = span{1 + random.IntN(30), first, first + random.IntN(12)}
		}
		offsets, total := pack(spans)
		checkPacked(t, spans, offsets, total)
		packed, needed = packed+total, needed+peak(spans)
	}
	if float64(packed) > 1.02*float64(needed) {
		t.Errorf("plans take %d values, the peaks are %d", packed, needed)
	}
}

// TestCentre: arrays that follow each other have one middle, scratch stands in gaps, and nothing overlaps.
func TestCentre(t *testing.T) {
	spans := []span{{64, 0, 1}, {32, 1, 2}, {48, 2, 3}, {32, 3, 4}, {16, 3, 3}, {0, 4, 4}, {96, 4, 4}}
	offsets, total := centre(spans, 4)
	checkPacked(t, spans, offsets, total)
	for i, want := range []int{0, 64, 16, 64, 0, 0, 96} {
		if spans[i].size > 0 && offsets[i] != want {
			t.Errorf("span %d stands at %d, want %d", i, offsets[i], want)
		}
	}
	random := rand.New(rand.NewPCG(3, 8))
	for range 200 {
		spans := make([]span, 1+random.IntN(40))
		for i := range spans {
			first := random.IntN(30)
			spans[i] = span{16 * random.IntN(20), first, first + random.IntN(6)}
		}
		offsets, total := centre(spans, random.IntN(len(spans)+1))
		checkPacked(t, spans, offsets, total)
	}
}
