package topology

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFillingIsMaxMin: after every change of random traffic no link carries more than its bandwidth, and each class is at
// its limit or has a full link on which no other class's messages are faster. These two are what max-min fair means.
func TestFillingIsMaxMin(t *testing.T) {
	const supernodes, bandwidth, tolerance = 5, 12.0, 1e-9
	random := rand.New(rand.NewPCG(1, 2))
	f := newFilling(supernodes, bandwidth)
	ids := map[flowKey]int32{}
	var keys []flowKey
	var unused []int32
	for change := range 2000 {
		key := flowKey{up: random.Int32N(supernodes), down: random.Int32N(supernodes), limit: []float64{0.5, 2, 7, 40}[random.IntN(4)]}
		id, known := ids[key]
		switch {
		case !known:
			id = int32(len(keys))
			if len(unused) > 0 {
				id, unused = unused[0], unused[1:]
			} else {
				keys = append(keys, key)
			}
			keys[id], ids[key] = key, id
			f.add(id, key)
			f.count(id, 1+random.Int32N(9))
		case random.IntN(2) == 0:
			f.count(id, -f.shares[id].messages)
			f.remove(id)
			delete(ids, key)
			unused = append(unused, id)
		default:
			f.count(id, 1)
		}
		f.fill()
		checkMaxMin(t, &f, keys, ids, bandwidth, tolerance)
		if t.Failed() {
			t.Fatalf("after change %d", change)
		}
	}
}

func checkMaxMin(t *testing.T, f *filling, keys []flowKey, ids map[flowKey]int32, bandwidth, tolerance float64) {
	t.Helper()
	carried, fastest := map[int32]float64{}, map[int32]float64{}
	for key, id := range ids {
		s := f.shares[id]
		for _, link := range []int32{key.up, 100 + key.down} {
			carried[link] += s.rate * float64(s.messages)
			fastest[link] = max(fastest[link], s.rate)
		}
	}
	for link, c := range carried {
		if c > bandwidth*(1+tolerance) {
			t.Errorf("link %d carries %g", link, c)
		}
	}
	for key, id := range ids {
		rate := f.shares[id].rate
		if rate > key.limit*(1+tolerance) {
			t.Errorf("%+v goes at %g", key, rate)
		}
		held := rate >= key.limit*(1-tolerance)
		for _, link := range []int32{key.up, 100 + key.down} {
			held = held || carried[link] >= bandwidth*(1-tolerance) && rate >= fastest[link]*(1-tolerance)
		}
		if !held {
			t.Errorf("%+v goes at %g though nothing holds it back", key, rate)
		}
	}
	if want := len(ids); len(f.byLimit) != want || !slices.IsSortedFunc(f.byLimit, func(a, b int32) int {
		return int(2 * (keys[a].limit - keys[b].limit))
	}) {
		t.Errorf("%d classes by limit, want %d in order", len(f.byLimit), want)
	}
}

// TestEndQueue holds the queue, with changed times, against a search for the least.
func TestEndQueue(t *testing.T) {
	const classes = 40
	random := rand.New(rand.NewPCG(3, 4))
	var q endQueue
	for range classes {
		q.grow()
	}
	want := map[int32]VTime{}
	for range 5000 {
		if len(want) > 0 && random.IntN(3) == 0 {
			first := int32(-1)
			for id, at := range want {
				if first < 0 || at < want[first] || at == want[first] && id < first {
					first = id
				}
			}
			if id, at := q.pop(); id != first || at != want[first] {
				t.Fatalf("class %d at %g came first, want %d at %g", id, at, first, want[first])
			}
			delete(want, first)
			continue
		}
		id, at := random.Int32N(classes), VTime(random.IntN(20))
		want[id] = at
		q.set(id, at)
	}
}
