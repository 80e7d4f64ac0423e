package layers

import "testing"

// TestWindows: the workers' parts cover every item of a round exactly once, in the order of their ranks.
func TestWindows(t *testing.T) {
	for _, split := range []bool{true, false} {
		for _, c := range []struct{ batch, ranks int }{{1, 1}, {2, 2}, {7, 3}, {64, 3}, {64, 4}, {5, 4}} {
			next, stride := 0, 0
			for r := range c.ranks {
				w, err := Share{Rank: r, Ranks: c.ranks, Split: split}.Window(c.batch)
				if err != nil {
					t.Fatal(err)
				}
				if w.First != next || w.Count < 1 || !split && w.Count != c.batch {
					t.Errorf("batch %d, rank %d of %d, split %v: %+v, want the items from %d", c.batch, r, c.ranks, split, w, next)
				}
				next, stride = next+w.Count, w.Stride
			}
			if next != stride || split && stride != c.batch {
				t.Errorf("batch %d over %d ranks, split %v: %d items of a round of %d", c.batch, c.ranks, split, next, stride)
			}
		}
	}
	if _, err := (Share{Rank: 1, Ranks: 4, Split: true}).Window(3); err == nil || err.Error() != "batch_size 3 is too small to split over 4 workers" {
		t.Errorf("3 items over 4 workers: error %v", err)
	}
	if _, err := (Share{}).Window(3); err != nil {
		t.Error(err)
	}
}
