package dataset

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/relay"
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

// TestInOrderNear: near waits until at most one result a processor and the one in use come before it, and for nothing after an error.
func TestInOrderNear(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(processors)
	stop := errors.New("stop")
	for _, p := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(p)
		for _, last := range []int{-1, 30} {
			var used, most atomic.Int64
			err := inOrderNear(200, 99, func(i int, near func()) int {
				for range i * 7 % 5 {
					runtime.Gosched()
				}
				near()
				if last < 0 {
					most.Store(max(most.Load(), int64(i)-used.Load()))
				}
				return i
			}, func(i int, _ int) error {
				runtime.Gosched()
				if i == last {
					return stop
				}
				used.Add(1)
				return nil
			})
			if (err == stop) != (last >= 0) || most.Load() > int64(p) {
				t.Errorf("%d processors: %d ahead, error %v", p, most.Load(), err)
			}
		}
	}
}

// TestInOrderPanics: inOrder raises the panic of a call of work at its turn, after the calls before it have been used.
func TestInOrderPanics(t *testing.T) {
	const broken = 7
	var p *relay.Panic
	used := 0
	func() {
		defer relay.Catch(&p)
		err := inOrder(50, 99, func(i int) int {
			if i >= broken {
				panic(i)
			}
			return i
		}, func(int, int) error { used++; return nil })
		t.Errorf("inOrder returned %v", err)
	}()
	if p == nil || p.Value != broken || used != broken {
		t.Errorf("inOrder raised %v after %d calls", p, used)
	}
}

// TestRenderPanics: the panic of a renderer arrives at the caller of render.
func TestRenderPanics(t *testing.T) {
	set := imageSet{name: "broken", channels: 1, size: 2, newRenderer: func(uint64) func(uint64, []byte) ([]byte, int) {
		return func(index uint64, pixels []byte) ([]byte, int) {
			if index == 5 {
				panic("words")
			}
			return append(pixels, 1, 2, 3, 4), 0
		}
	}}
	var p *relay.Panic
	func() {
		defer relay.Catch(&p)
		_, err := newRendering(set, 1).render(0, 9)
		t.Errorf("render returned %v", err)
	}()
	if p == nil || p.Value != "words" {
		t.Errorf("render raised %v", p)
	}
}
