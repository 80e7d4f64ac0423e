package topology

import (
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// traffic is a filling with the numbers of its classes.
type traffic struct {
	filling
	ids    map[flowKey]int32
	keys   []flowKey // of all classes, in use or not
	unused []int32
}

func newTraffic(supernodes int, bandwidth float64) *traffic {
	return &traffic{filling: newFilling(supernodes, bandwidth), ids: map[flowKey]int32{}}
}

// change adds messages to a class, or ends all of them.
func (f *traffic) change(key flowKey, messages int32) {
	id, known := f.ids[key]
	if !known {
		id = int32(len(f.keys))
		if len(f.unused) > 0 {
			id, f.unused = f.unused[0], f.unused[1:]
		} else {
			f.keys = append(f.keys, key)
		}
		f.keys[id], f.ids[key] = key, id
		f.add(id, key)
	}
	if messages > 0 {
		f.count(id, messages)
		return
	}
	f.count(id, -f.classes[id].messages)
	f.remove(id)
	delete(f.ids, key)
	f.unused = append(f.unused, id)
}

// rate is the rate of each message of a class.
func (f *filling) rate(id int32) float64 {
	if c := &f.classes[id]; c.leader != None {
		return f.links[c.leader].level
	}
	return f.classes[id].limit
}

// TestFillingIsMaxMin: after every change of random traffic no link carries more than its bandwidth, and each class is at
// its limit or has a full link on which no other class's messages are faster. These two are what max-min fair means.
func TestFillingIsMaxMin(t *testing.T) {
	racing.SkipSequential(t)
	const tolerance = 1e-9
	for _, c := range []struct {
		supernodes, classes int
		limits              []float64
	}{
		{5, 40, []float64{0.5, 2, 7, 40}},
		{30, 120, []float64{3}},
		{30, 80, []float64{40}},
		{30, 200, []float64{0.5, 0.7, 2, 5}},
	} {
		const bandwidth = 12.0
		random := rand.New(rand.NewPCG(1, 2))
		f := newTraffic(c.supernodes, bandwidth)
		draw := func() flowKey {
			n := int32(c.supernodes)
			return flowKey{up: random.Int32N(n), down: random.Int32N(n), limit: c.limits[random.IntN(len(c.limits))]}
		}
		for change := range 4000 {
			for range 1 + random.IntN(3) {
				key, messages := draw(), 1+random.Int32N(9)
				if len(f.ids) > c.classes || len(f.ids) > 0 && random.IntN(3) == 0 {
					key, messages = f.keys[random.IntN(len(f.keys))], 0
				}
				if _, known := f.ids[key]; known || messages > 0 {
					f.change(key, messages)
				}
			}
			f.fill()
			checkMaxMin(t, f, tolerance)
			if t.Failed() {
				t.Fatalf("%d supernodes, limits %v, after change %d", c.supernodes, c.limits, change)
			}
		}
	}
}

func checkMaxMin(t *testing.T, f *traffic, tolerance float64) {
	t.Helper()
	carried, fastest := make([]float64, len(f.links)), make([]float64, len(f.links))
	for id := range f.keys {
		c := &f.classes[id]
		if f.ids[f.keys[id]] != int32(id) || c.messages == 0 {
			continue
		}
		for _, link := range c.links {
			carried[link] += f.rate(int32(id)) * float64(c.messages)
			fastest[link] = max(fastest[link], f.rate(int32(id)))
		}
	}
	for link, c := range carried {
		if c > f.bandwidth*(1+tolerance) {
			t.Errorf("link %d carries %g", link, c)
		}
	}
	for key, id := range f.ids {
		rate := f.rate(id)
		if rate > key.limit*(1+tolerance) {
			t.Errorf("%+v goes at %g", key, rate)
		}
		held := rate >= key.limit*(1-tolerance)
		for _, link := range f.classes[id].links {
			held = held || carried[link] >= f.bandwidth*(1-tolerance) && rate >= fastest[link]*(1-tolerance)
		}
		if !held {
			t.Errorf("%+v goes at %g though nothing holds it back", key, rate)
		}
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
