package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// Resident multiplies matrix blocks on one core group's mesh and adds the products to several blocks of C that all stay in LDM. The caller
// chooses which blocks of A and B to fetch, and which block of C to add to. Nothing is double-buffered.
type Resident struct {
	product *Nest
	results []cpe.Tile
}

// NewResidents returns a Resident for every core group, for blocks A (m x k), B (k x n) and the given number of blocks C (m x n), which a kernel
// multiplies. It reserves storage for their panels.
func NewResidents(mach *cpe.Machine, m, n, k, results int, product cpe.Product) []Resident {
	spec := mach.Spec()
	mr, nr := vgemm.Tile()
	plan := Plan{BM: m, BN: n, BK: k, Order: [3]int{loopM, loopN, loopK}, Steps: meshSteps(&spec), MR: mr, NR: nr}
	products := NestsOf(mach, Shape{M: m, N: n, K: k}, plan)
	all := make([]Resident, len(products))
	for i, p := range products {
		p.a.Product, p.b.Product, p.c.Product = product, product, product
		all[i] = Resident{p, make([]cpe.Tile, results)}
		for r := range all[i].results {
			all[i].results[r] = p.c
		}
	}
	tiles := products[0].extents(plan)
	for range results {
		tiles = append(tiles, cpe.TileExtent{Tile: &products[0].c, Rows: m, Cols: n, Placed: true})
	}
	_, stored := cpe.Need(&spec, tiles...)
	mach.Reserve(stored)
	return all
}

// Open allocates LDM for all blocks.
func (r *Resident) Open(g *cpe.CoreGroup) error {
	g.Free()
	g.Deal(len(g.CPEs()))
	p := r.product
	if err := p.take(g); err != nil {
		return err
	}
	for i := range r.results {
		if err := g.TakePlaced(p.name, &r.results[i], p.Plan.BM, p.Plan.BN); err != nil {
			return err
		}
	}
	return nil
}

// C returns block i of C. The caller places, initialises and stores it.
func (r *Resident) C(i int) *cpe.Tile { return &r.results[i] }

// GetA fetches a block of A: the first m x k values of a view.
func (r *Resident) GetA(g *cpe.CoreGroup, a cpe.View, m, k int) {
	g.Get(&r.product.a, a, 0, 0, m, k)
	g.Sync()
}

// GetB fetches a block of B: the first k x n values of a view.
func (r *Resident) GetB(g *cpe.CoreGroup, b cpe.View, k, n int) {
	g.Get(&r.product.b, b, 0, 0, k, n)
	g.Sync()
}

// Multiply adds A*B to block i of C.
func (r *Resident) Multiply(g *cpe.CoreGroup, i int) error {
	if err := r.product.multiply(g, &r.results[i], true); err != nil {
		return err
	}
	g.Sync()
	return nil
}
