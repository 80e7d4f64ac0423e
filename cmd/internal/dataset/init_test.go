package dataset

import (
	"fmt"
	"slices"
	"testing"
)

// TestSplit: each class has its share of test images, at least one and not all; every image is in one part; the seed decides the order.
func TestSplit(t *testing.T) {
	s := &survey{files: make([][]string, 3)}
	for label, n := range []int{2, 11, 100} {
		for i := range n {
			s.files[label] = append(s.files[label], fmt.Sprint(label, "/", i))
		}
	}
	train, test := s.split(0.2, 1)
	counts := map[int]int{}
	seen := map[string]bool{}
	for _, r := range test {
		counts[r.Label]++
	}
	for _, r := range slices.Concat(train, test) {
		if seen[r.Name] || r.Name[:1] != fmt.Sprint(r.Label) {
			t.Errorf("%s, label %d, is misplaced", r.Name, r.Label)
		}
		seen[r.Name] = true
	}
	if len(seen) != 113 || counts[0] != 1 || counts[1] != 2 || counts[2] != 20 {
		t.Errorf("%d images, test images by class %v", len(seen), counts)
	}
	names := func(seed uint64) (list []string) {
		train, _ := s.split(0.2, seed)
		for _, r := range train {
			list = append(list, r.Name)
		}
		return list
	}
	if !slices.Equal(names(1), names(1)) || slices.Equal(names(1), names(2)) {
		t.Error("the order does not follow from the seed")
	}
	if _, test := s.split(0.999, 1); len(test) != 1+10+99 {
		t.Errorf("%d test images of a share of 0.999: no class may lose all training images", len(test))
	}
}

// TestSchedule: test batches cover all test images, the same image as seldom twice as possible, and batches of training never exceed
// the images.
func TestSchedule(t *testing.T) {
	for n := 1; n < 3000; n++ {
		s := newSchedule(n, n, 0, &zooNet{epochs: 20, batch: 64, testBatch: 100})
		covered := s.testIter * s.testBatch
		if covered < n || covered-s.testBatch >= n || s.testBatch > 100 || n%100 == 0 && covered != n || n > 1000 && covered > n+n/50 {
			t.Errorf("%d test images: %d batches of %d", n, s.testIter, s.testBatch)
		}
		if s.batch < 1 || s.batch > n || s.maxIter < 500 || s.maxIter*s.batch < 20*n || min(s.testInterval, s.display, s.backup) < 1 {
			t.Errorf("%d images: %+v", n, s)
		}
	}
	if s := newSchedule(1000, 10, 3, &zooNet{epochs: 20, batch: 64, testBatch: 100}); s.maxIter != 3 || s.testInterval != 1 {
		t.Errorf("with -iterations 3: %+v", s)
	}
}

// TestClassNames: classes are in the order of their numbers if all are numbers, else in alphabetical order.
func TestClassNames(t *testing.T) {
	for _, want := range [][]string{{"2", "10", "30"}, {"10", "2", "b"}} {
		c := classFiles{}
		for _, name := range want {
			c[name] = nil
		}
		if got := c.names(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
