package rank

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFirst: random scores, many and few of them equal, in order, reversed and mixed, with infinities, zeros of both signs and NaN, against a stable sort of the scores.
func TestFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	odd := []float32{float32(math.NaN()), float32(math.Copysign(math.NaN(), -1)), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -math.MaxFloat32}
	for turn := range 20_000 {
		size := r.IntN(200)
		if turn%100 == 0 {
			size = 8*samples + r.IntN(2000)
		}
		scores := make([]float32, size)
		for i := range scores {
			scores[i] = float32(r.IntN(1+turn%1000)-turn%7) / 8
			if r.IntN(50) == 0 {
				scores[i] = odd[r.IntN(len(odd))]
			}
		}
		switch turn % 5 {
		case 0:
			slices.Sort(scores)
		case 1:
			slices.SortFunc(scores, func(a, b float32) int { return cmp.Compare(b, a) })
		}
		keys, want := make([]Key, size), make([]int, size)
		for i, s := range scores {
			keys[i], want[i] = KeyOf(s, i), i
		}
		slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		n := r.IntN(220)
		first := First(keys, n)
		if len(first) != min(n, size) {
			t.Fatalf("%d of %d keys are %d", n, size, len(first))
		}
		for i, k := range first {
			if k.Index() != want[i] {
				t.Fatalf("of %v, place %d has number %d, not %d", scores, i, k.Index(), want[i])
			}
		}
		slices.Sort(keys)
		for i, k := range keys {
			if k.Index() != want[i] {
				t.Fatalf("afterwards, key %d is of number %d, not %d", i, k.Index(), want[i])
			}
		}
	}
}

// TestFirstOfEqualKeys: keys that are there more than once.
func TestFirstOfEqualKeys(t *testing.T) {
	list := slices.Repeat([]Key{7, 3, 7}, 400)
	if got := First(list, 500); !slices.Equal(got, append(slices.Repeat([]Key{3}, 400), slices.Repeat([]Key{7}, 100)...)) {
		t.Errorf("the first 500 are %v", got)
	}
}

// TestDivide: a few passes are enough, whatever the order of the scores.
func TestDivide(t *testing.T) {
	const size = 1 << 16
	r := rand.New(rand.NewPCG(5, 6))
	for name, score := range map[string]func(i int) float32{
		"mixed":      func(int) float32 { return r.Float32() },
		"ordered":    func(i int) float32 { return float32(-i) },
		"reversed":   func(i int) float32 { return float32(i) },
		"equal":      func(int) float32 { return 1 },
		"organ pipe": func(i int) float32 { return float32(min(i, size-i)) },
	} {
		for _, n := range []int{1, 100, 6000, size / 2, size - 1} {
			list := make([]Key, size)
			for i := range list {
				list[i] = KeyOf(score(i), i)
			}
			if !divide(list, n) {
				t.Errorf("%s: gave up on the first %d", name, n)
			}
			if slices.Max(list[:n]) > slices.Min(list[n:]) {
				t.Errorf("%s: a key behind the first %d comes before one of them", name, n)
			}
		}
	}
}

func BenchmarkFirst(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	scores, keys := make([]float32, 3060), make([]Key, 3060)
	for i := range scores {
		scores[i] = r.Float32()
	}
	for b.Loop() {
		for i, s := range scores {
			keys[i] = KeyOf(s, i)
		}
		First(keys, 100)
	}
}
