package dataset

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestInOrder: whatever call of work takes long, use gets all in order, nothing runs far ahead of it, and its error ends all.
func TestInOrder(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(processors)
	stop := errors.New("stop")
	for _, p := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(p)
		for _, c := range []struct{ n, last, most int }{{0, -1, 99}, {1, -1, 99}, {3, -1, 99}, {200, -1, 99}, {200, 17, 99}, {200, 0, 99}, {200, -1, 1}, {200, -1, 3}, {200, 5, 2}} {
			var used, under atomic.Int64
			next := 0
			err := inOrder(c.n, c.most, func(i int) int {
				under.Add(1)
				defer under.Add(-1)
				if far := int64(i) - used.Load(); far > int64(min(4*p, c.most)) {
					t.Errorf("call %d is %d ahead on %d processors", i, far, p)
				}
				for range i * 7 % 5 {
					runtime.Gosched()
				}
				return i * i
			}, func(i, made int) error {
				if i != next || made != i*i {
					t.Errorf("on %d processors: use(%d, %d), want use(%d, %d)", p, i, made, next, next*next)
				}
				next++
				used.Add(1)
				if i == c.last {
					return stop
				}
				return nil
			})
			want, calls := error(nil), c.n
			if c.last >= 0 {
				want, calls = stop, c.last+1
			}
			if err != want || next != calls || under.Load() != 0 {
				t.Errorf("%d of %d on %d processors: error %v after %d, %d are under way", calls, c.n, p, err, next, under.Load())
			}
		}
	}
}
