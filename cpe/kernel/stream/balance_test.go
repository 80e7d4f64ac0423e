package stream

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// TestEvenTiles: CPEs of the SW26010, four core groups, move about as much as each other wherever an array has enough values. The loads are
// counted tile by tile, as they are dealt, and not by the plan's own formula.
func TestEvenTiles(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	for _, c := range []struct {
		name string
		Pass
		most float64
	}{
		{"AlexNet's bn1, three arrays", Pass{Dims: [3]int{64, 96, 3025}, Ins: []Array{Full, Full}, Outs: []Array{Full}}, 1.02},
		{"AlexNet's relu3, 16 images", Pass{Dims: [3]int{1, 1, 16 * 384 * 169}, Ins: []Array{Full}, Outs: []Array{Full}}, 1.01},
		{"AlexNet's scale3, 16 images", Pass{Dims: [3]int{16, 384, 169}, Ins: []Array{Full, Row, Row}, Outs: []Array{Full}}, 1.01},
		{"a prime number of planes", Pass{Dims: [3]int{7, 61, 1009}, Ins: []Array{Full}, Outs: []Array{Full}}, 1.10},
		{"softmax of 1024 images", Pass{Dims: [3]int{1024, 1000, 1}, WholeMid: true, Ins: []Array{Full}, Outs: []Array{Full, Plane}}, 1.01},
		{"too few values", Pass{Dims: [3]int{1, 1, 128 * 100}, Ins: []Array{Full}, Outs: []Array{Full}}, 2.57},
	} {
		p, err := NewPlan(&spec, &c.Pass)
		if err != nil {
			t.Fatal(err)
		}
		loads, total := map[int]float64{}, 0.0
		for n := range p.Tiles() {
			group := 0 // of the groups' shares, the one with tile n
			for (group+1)*p.Tiles()/spec.CoreGroups <= n {
				group++
			}
			cpe := (n - group*p.Tiles()/spec.CoreGroups) % spec.CPEs()
			at, size := n, 1
			for axis := 2; axis >= 0; axis-- {
				size *= tiling.Nth(at%p.Counts[axis], p.Tile[axis], p.Dims[axis]).N
				at /= p.Counts[axis]
			}
			loads[group*spec.CPEs()+cpe] += float64(size)
			total += float64(size)
		}
		if total != float64(c.values()) {
			t.Errorf("%s: tiles hold %.0f of %d values", c.name, total, c.values())
		}
		most := 0.0
		for _, load := range loads {
			most = max(most, load)
		}
		if got := most / total * float64(spec.CPEs()*spec.CoreGroups); got > c.most {
			t.Errorf("%s: %v: the busiest CPE has %.3f of the mean, want %.2f at most", c.name, p, got, c.most)
		}
	}
}

// TestShortRuns: where LDM holds all channels of few pixels only, tiles are not cut to a pixel or two so that CPEs have equal loads: sixteen images
// take less than three times as long as eight. In runs of 4 bytes sw39000 took 24 times as long.
func TestShortRuns(t *testing.T) {
	for _, machine := range []string{"sw26010", "sw39000"} {
		ms := func(images int) float64 {
			m := kerneltest.Machine(t, machine, true)
			k, err := New(m, Pass{Name: "LRN", Dims: [3]int{images, 256, 729}, WholeMid: true, Ins: []Array{Full}, Outs: []Array{Full}, Scratch: 2, Op: func(*Tile) {}})
			if err != nil {
				t.Fatal(err)
			}
			x := kerneltest.Array(m, images*256*729)
			if err := k.Run([][]float32{x}, [][]float32{x}); err != nil {
				t.Fatal(err)
			}
			l := m.Ledger()
			return l.Time.Milliseconds()
		}
		if few, many := ms(8), ms(16); many > 3*few {
			t.Errorf("%s: 8 images take %.3f ms, 16 take %.3f", machine, few, many)
		}
	}
}
