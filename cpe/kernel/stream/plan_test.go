package stream

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

// TestPlans compares plans for the SW26010 with a file.
func TestPlans(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	kerneltest.Plans(t, "testdata/plans.txt", func(add func(any, fmt.Stringer, error)) {
		for _, s := range []Pass{
			{Name: "relu", Dims: [3]int{1, 1, 1 << 20}, Ins: []Array{Full}, Outs: []Array{Full}},
			{Name: "scale", Dims: [3]int{64, 96, 3025}, Ins: []Array{Full, Row, Row}, Outs: []Array{Full}},
			{Name: "softmax", Dims: [3]int{128, 1000, 1}, WholeMid: true, Ins: []Array{Full}, Outs: []Array{Full}},
			{Name: "too much", Dims: [3]int{1, 20000, 1}, WholeMid: true, Ins: []Array{Full}, Outs: []Array{Full}},
			{Name: "nothing", Dims: [3]int{0, 5, 5}, Ins: []Array{Full}},
		} {
			p, err := NewPlan(&spec, &s)
			add(s.Name, p, err)
		}
	})
}

// TestNearTilesAreLong: on the host a stream that goes along mid has one tile an outer, but for even cuts of a long inner, and of any inner while there are
// fewer than four tiles for each core group.
func TestNearTilesAreLong(t *testing.T) {
	spec := kerneltest.HostSpec(t)
	for _, c := range []struct {
		cores      int
		dims, want [3]int
	}{
		{2, [3]int{32, 256, 729}, [3]int{1, 256, 729}},
		{2, [3]int{32, 96, 4096}, [3]int{1, 96, 4096}},
		{2, [3]int{32, 96, 4097}, [3]int{1, 96, 2080}},
		{2, [3]int{1, 3, 50176}, [3]int{1, 3, 3872}},
		{2, [3]int{1, 3, 12545}, [3]int{1, 3, 1408}},
		{2, [3]int{1, 16, 2704}, [3]int{1, 16, 352}},
		{64, [3]int{1, 16, 2704}, [3]int{1, 16, 256}},
		{64, [3]int{8, 16, 2704}, [3]int{1, 16, 256}},
		{64, [3]int{64, 16, 2704}, [3]int{1, 16, 704}},
		{2, [3]int{2, 5, 1}, [3]int{1, 5, 1}},
		{2, [3]int{0, 5, 0}, [3]int{0, 5, 0}},
	} {
		spec.CoreGroups = c.cores
		p, err := NewPlan(&spec, &Pass{Name: "near", Dims: c.dims, WholeMid: true, Near: 5, Ins: []Array{Full}, Outs: []Array{Full}})
		if err != nil {
			t.Fatal(err)
		}
		if p.Tile != c.want {
			t.Errorf("%v: tiles of %v, want %v", c.dims, p.Tile, c.want)
		}
	}
}

// TestTilesForCores: on 64 cores a pass has tiles for all of them, and short rows count for more than their values. Sums are cut alike for any number of cores.
func TestTilesForCores(t *testing.T) {
	few, many := kerneltest.HostSpec(t), kerneltest.HostSpec(t)
	few.CoreGroups, many.CoreGroups = 2, 64
	for _, c := range []struct {
		dims  [3]int
		rows  bool
		sums  int
		tiles [2]int // on 2 and on 64 cores
	}{
		{dims: [3]int{512, 500, 1}, tiles: [2]int{16, 64}},
		{dims: [3]int{800, 64, 64}, tiles: [2]int{200, 267}},
		{dims: [3]int{512, 500, 1}, sums: 1, tiles: [2]int{16, 16}},
		{dims: [3]int{512, 10, 1}, rows: true, tiles: [2]int{16, 26}},
		{dims: [3]int{512, 10, 1}, rows: true, sums: 1, tiles: [2]int{16, 16}},
		{dims: [3]int{16, 10, 1}, rows: true, tiles: [2]int{1, 1}},
		{dims: [3]int{0, 10, 1}, rows: true},
	} {
		for i, spec := range []*cpe.Spec{&few, &many} {
			p, err := NewPlan(spec, &Pass{Name: "cut", Dims: c.dims, WholeMid: c.rows, Sums: c.sums, Ins: []Array{Full}, Outs: []Array{Full}})
			if err != nil {
				t.Fatal(err)
			}
			if p.Tiles() != c.tiles[i] {
				t.Errorf("%+v, %d cores: %d tiles", c, spec.CoreGroups, p.Tiles())
			}
		}
	}
}
