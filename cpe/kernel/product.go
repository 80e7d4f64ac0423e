package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// product executes a GemmPlan on one core group: one loop nest over blocks for every machine. What differs is how a
// block is fetched and multiplied: natively A and B are packed into panels and C is updated where it lies; on a
// mesh each CPE holds its part of the three blocks in LDM, and the owners of A's and B's parts broadcast them along rows
// and columns, step by step (swCaffe, section IV-A).
type product struct {
	plan GemmPlan
	name string
	job  *productJob
	host hostBlocks
	mesh meshBlocks

	held [3][2]int // which block of A (i,k), B (k,j) and C (i,j) is held; -1: none
}

func newProduct(m *cpe.Machine, s GemmShape) (*product, error) {
	spec := m.Spec()
	plan, err := PlanGemm(&spec, m.Native(), s)
	if err != nil {
		return nil, err
	}
	p := &product{plan: plan, name: "gemm " + s.String()}
	if m.Native() {
		p.host.init(plan)
	}
	return p, nil
}

var nothing = [2]int{-1, -1}

// run does one job. Its extents may be smaller than those the plan was made for, not larger in K.
func (p *product) run(g *cpe.CoreGroup, job *productJob) error {
	if job.m == 0 || job.n == 0 {
		return nil
	}
	p.job = job
	p.held = [3][2]int{nothing, nothing, nothing}
	if err := p.open(g); err != nil {
		return err
	}
	counts := [3]int{blocks(job.m, p.plan.BM), blocks(job.n, p.plan.BN), max(1, blocks(job.k, p.plan.BK))}
	var at [3]int
	o := p.plan.Order
	for at[o[0]] = 0; at[o[0]] < counts[o[0]]; at[o[0]]++ {
		for at[o[1]] = 0; at[o[1]] < counts[o[1]]; at[o[1]]++ {
			for at[o[2]] = 0; at[o[2]] < counts[o[2]]; at[o[2]]++ {
				if err := p.visit(g, at[loopM], at[loopN], at[loopK]); err != nil {
					return err
				}
			}
		}
	}
	return p.close(g)
}

func blocks(n, size int) int { return (n + size - 1) / size }

// extent is the place and length of block i of an extent n.
func extent(i, size, n int) (at, length int) {
	at = i * size
	return at, min(size, n-at)
}

// visit multiplies block (i,k) of A with block (k,j) of B into block (i,j) of C.
func (p *product) visit(g *cpe.CoreGroup, i, j, k int) error {
	if c := [2]int{i, j}; p.held[2] != c {
		if err := p.finishC(g); err != nil {
			return err
		}
		p.held[2] = c
		p.startC(g, i, j, k)
	}
	if b := [2]int{k, j}; p.held[1] != b {
		p.held[1] = b
		p.fetchB(g, k, j)
	}
	if a := [2]int{i, k}; p.held[0] != a {
		p.held[0] = a
		p.fetchA(g, i, k)
	}
	return p.multiply(g, i, j, k)
}

func (p *product) open(g *cpe.CoreGroup) error {
	if g.Native() {
		return nil
	}
	return p.mesh.open(g, p)
}

func (p *product) close(g *cpe.CoreGroup) error { return p.finishC(g) }

func (p *product) startC(g *cpe.CoreGroup, i, j, k int) {
	if !g.Native() {
		p.mesh.startC(g, p, i, j)
	} else if k == 0 && p.job.bias != nil {
		p.host.startBias(p, i, j)
	}
}

func (p *product) finishC(g *cpe.CoreGroup) error {
	if g.Native() || p.held[2] == nothing {
		return nil
	}
	p.mesh.storeC(g, p, p.held[2][0], p.held[2][1])
	return nil
}

func (p *product) fetchA(g *cpe.CoreGroup, i, k int) {
	if g.Native() {
		p.host.packA(p, i, k)
		return
	}
	p.mesh.fetchA(g, p, i, k)
}

func (p *product) fetchB(g *cpe.CoreGroup, k, j int) {
	if g.Native() {
		p.host.packB(p, k, j)
		return
	}
	p.mesh.fetchB(g, p, k, j)
}

func (p *product) multiply(g *cpe.CoreGroup, i, j, k int) error {
	if g.Native() {
		p.host.multiply(p, i, j, k)
		return nil
	}
	return p.mesh.multiply(g, p, i, j, k)
}

// hostBlocks are the packed panels of a native core.
type hostBlocks struct {
	mr, nr int
	a, b   []float32
}

func (h *hostBlocks) init(plan GemmPlan) {
	h.mr, h.nr = simd.Micro()
	h.a = make([]float32, plan.BM*plan.BK)
	h.b = make([]float32, plan.BN*plan.BK)
}

// startBias puts the bias where the product will be added.
func (h *hostBlocks) startBias(p *product, i, j int) {
	i0, m := extent(i, p.plan.BM, p.job.m)
	j0, n := extent(j, p.plan.BN, p.job.n)
	for r := range m {
		row := p.job.c[(i0+r)*p.job.ldc+j0:][:n]
		if p.job.biasRows {
			simd.Fill(row, p.job.bias[i0+r])
		} else {
			copy(row, p.job.bias[j0:])
		}
	}
}

// packA packs a block of A into panels of mr rows, k values each.
func (h *hostBlocks) packA(p *product, i, k int) {
	i0, m := extent(i, p.plan.BM, p.job.m)
	k0, kk := extent(k, p.plan.BK, p.job.k)
	src := p.job.a.from(i0, k0)
	for r := 0; r < m; r += h.mr {
		panel, part := h.a[r*kk:(r+h.mr)*kk], src.from(r, 0)
		if src.trans {
			simd.PackB(panel, part.data, src.ld, kk, min(h.mr, m-r), h.mr)
		} else {
			simd.PackA(panel, part.data, src.ld, min(h.mr, m-r), kk, h.mr)
		}
	}
}

// packB packs a block of B into panels of nr columns, k values each.
func (h *hostBlocks) packB(p *product, k, j int) {
	k0, kk := extent(k, p.plan.BK, p.job.k)
	j0, n := extent(j, p.plan.BN, p.job.n)
	src := p.job.b.from(k0, j0)
	for c := 0; c < n; c += h.nr {
		panel, part := h.b[c*kk:(c+h.nr)*kk], src.from(0, c)
		if src.trans {
			simd.PackA(panel, part.data, src.ld, min(h.nr, n-c), kk, h.nr)
		} else {
			simd.PackB(panel, part.data, src.ld, kk, min(h.nr, n-c), h.nr)
		}
	}
}

// multiply runs the micro-kernel over the block's tiles.
func (h *hostBlocks) multiply(p *product, i, j, k int) {
	job := p.job
	i0, m := extent(i, p.plan.BM, job.m)
	j0, n := extent(j, p.plan.BN, job.n)
	_, kk := extent(k, p.plan.BK, job.k)
	accumulate := k > 0 || job.accumulate || job.bias != nil
	for c := 0; c < n; c += h.nr {
		b := h.b[c*kk : (c+h.nr)*kk]
		for r := 0; r < m; r += h.mr {
			a, dst := h.a[r*kk:(r+h.mr)*kk], job.c[(i0+r)*job.ldc+j0+c:]
			if m-r >= h.mr && n-c >= h.nr {
				simd.MicroKernel(kk, a, b, dst, job.ldc, accumulate)
			} else {
				simd.MicroKernelEdge(kk, a, b, dst, job.ldc, min(h.mr, m-r), min(h.nr, n-c), accumulate)
			}
		}
	}
}
