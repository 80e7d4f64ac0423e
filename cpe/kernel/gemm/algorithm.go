package gemm

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
)

// The names of the algorithms. Each is in a file of its own, with the products that it supports.
const (
	Mesh       = "gemm-mesh"
	MeshSums   = "gemm-mesh-sums"
	Rounded    = "gemm-bf16"
	Quantised  = "gemm-int8"
	RowSums    = "gemm-row-sums"
	Transposed = "gemm-transposed"
	Dots       = "gemm-dots"
	Skinny     = "gemm-skinny"
	Unpacked   = "gemm-unpacked"
	Dynamic    = "gemm-dynamic"
	Packed     = "gemm-packed"
)

// Problem is a product on a machine. Direction is always Forward: the shape says which operands are transposed.
type Problem = op.Problem[Shape]

// Algorithm is one way to compute a product.
type Algorithm = op.Algorithm[Shape, Kernel]

// The algorithms. On the host, the one of least cost computes a product (cost.go). One that sums in another order than Packed is Special, or for inference
// alone, so that costs do not decide about training's bits. On a modelled machine the first that supports a product computes it.
var (
	algorithms        = listOf(onMesh, readOnce, inBlocks) // of New
	blockedAlgorithms = listOf(onMesh, inBlocks)           // of NewBlocked: all kernels are Blocked

	onMesh = []*Algorithm{
		{
			Name: MeshSums, Doc: "blocks on the CPE mesh; core groups share the sum over K",
			Supports: when((*Shape).sharesSums, "it adds A' B to C, where core groups share the items of a batch"), Kernel: blocked(newMeshSums),
		},
		{
			Name: Mesh, Doc: "blocks on the CPE mesh; core groups share C",
			Supports: when((*Shape).byDMA, "it is for operands that pass through LDM by DMA"), Kernel: blocked(newMesh),
		},
	}
	readOnce = []*Algorithm{
		{
			Name: Rounded, Doc: "factors rounded to bfloat16, in a net for inference; all of B is packed, and kept if it is fixed", Types: op.RoundedFactors, Special: true,
			Supports: func(p *Problem) error {
				return op.FirstReason(op.Unless(p.Inference, "it is for weights that do not change"), inMemory((*Shape).rounds, "A is transposed, or C is added to")(p))
			},
			Cost: roundedCost(2),
			Kernel: func(m *cpe.Machine, p *Problem) (Kernel, error) {
				return newRounded(m, p.Shape, Rounded, factors.BFloat16)
			},
		},
		{
			Name: Quantised, Doc: "factors rounded to 8 bits, sums in int32; all of B is packed, and kept if it is fixed", Types: op.Quantised,
			Supports: func(p *Problem) error {
				return op.FirstReason(quant.Fits(p.Shape.K), op.OnHost(p), op.Unless(!p.Shape.TransA && !p.Shape.Accumulate, "A is transposed, or C is added to"))
			},
			Cost: roundedCost(4),
			Kernel: func(m *cpe.Machine, p *Problem) (Kernel, error) {
				return newRounded(m, p.Shape, Quantised, factors.Int8(p.Scales))
			},
		},
		{
			Name: Dots, Doc: "dot products of a few rows of A with the rows of B', which is read once, in place, in a net for inference", General: true,
			Supports: func(p *Problem) error {
				return op.FirstReason(op.Unless(p.Inference, "it sums in another order than in training"),
					inMemory((*Shape).dots, "it is for %d rows of A at most and a B', with vectors", dotRows)(p))
			},
			Cost: dotsCost, Kernel: blocked(newDots),
		},
		{
			Name: RowSums, Doc: "fixed parts of the rows of a large B are summed separately; B is read once, in place", Special: true,
			Supports: inMemory((*Shape).sumsRows, "it is for %d rows of A at most, and neither operand transposed", skinnyRows),
			Declines: fewRowSums, Cost: rowSumsCost, Kernel: planned(newRowSums),
		},
		{
			Name: Transposed, Doc: "computes the transpose of C: B', read in place, is the left operand, and A is packed", General: true,
			Supports: inMemory((*Shape).transposes, "it is for a B' that is not added to C, with vectors"),
			Declines: sharedByClaims, Cost: transposedCost, Kernel: planned(newTransposed),
		},
	}
	inBlocks = []*Algorithm{
		{
			Name: Skinny, Doc: "reads one large matrix once, in place; the other operand has few rows", Special: true,
			Supports: inMemory((*Shape).skinny, "it is for %d rows of A, or of A' and B, at most", skinnyRows),
			Declines: rowsInParts, Cost: skinnyCost, Kernel: blocked(newSkinny),
		},
		{
			Name: Unpacked, Doc: "reads both operands in place", General: true,
			Supports: inMemory((*Shape).unpacked, "B is transposed, K needs several blocks, or there are no vectors"),
			Declines: sharedByClaims, Cost: unpackedCost, Kernel: blocked(newUnpacked),
		},
		{
			Name: Dynamic, Doc: "packs blocks; cores claim panels of columns of C, some at a time", General: true,
			Supports: inMemory((*Shape).schedules, "there is one core"), Declines: fewClaims, Cost: packedCost, Kernel: blocked(newDynamic),
		},
		{
			Name: Packed, Doc: "packs blocks of both operands; each core group computes a fixed part of C", General: true,
			Supports: inMemory((*Shape).any, ""), Cost: packedCost, Kernel: blocked(newPacked),
		},
	}
)

func listOf(lists ...[]*Algorithm) op.List[Shape, Kernel] {
	return op.List[Shape, Kernel]{Algorithms: slices.Concat(lists...), Charge: func(k Kernel) error { return k.Run(nil, nil, nil, nil) }}
}

// when returns a Supports function: holds, or the reason.
func when(holds func(*Shape, *cpe.Spec) bool, reason string, values ...any) func(*Problem) error {
	return func(p *Problem) error { return op.Unless(holds(&p.Shape, p.Spec), reason, values...) }
}

// inMemory is when, for algorithms whose operands are in main memory.
func inMemory(holds func(*Shape, *cpe.Spec) bool, reason string, values ...any) func(*Problem) error {
	return func(p *Problem) error {
		return op.FirstReason(
			op.Unless(!p.Spec.HasDMA(), "its operands must be in main memory"),
			when(holds, reason, values...)(p),
		)
	}
}

// planned returns a Kernel function.
func planned(plan func(*cpe.Machine, Shape) (Kernel, error)) func(*cpe.Machine, *Problem) (Kernel, error) {
	return func(m *cpe.Machine, p *Problem) (Kernel, error) { return plan(m, p.Shape) }
}

// blocked is planned for a form of Blocked.
func blocked(plan func(*cpe.Machine, Shape) (*Blocked, error)) func(*cpe.Machine, *Problem) (Kernel, error) {
	return func(m *cpe.Machine, p *Problem) (Kernel, error) { return plan(m, p.Shape) }
}

// plan plans a product with the algorithm that a list chooses.
func plan(l *op.List[Shape, Kernel], m *cpe.Machine, p *Problem) (Kernel, error) {
	if err := p.Shape.Check(); err != nil {
		return nil, err
	}
	c, err := l.Choose(p, op.Force{})
	if err != nil {
		return nil, err
	}
	return c.Algorithm.Kernel(m, p)
}

// problem is a product on a machine, in the number types that its user permits.
func problem(m *cpe.Machine, s Shape, inference bool) *Problem {
	spec := m.Spec()
	return &Problem{Shape: s, Types: op.Permitted(&spec), Spec: &spec, Inference: inference}
}

// Optional lists the algorithms that cpe.Spec.WithoutAlgorithms may leave out: all but those that compute what no other does.
func Optional() (names []string) {
	for _, a := range algorithms.Algorithms {
		if a.Name != Packed && a.Name != Mesh {
			names = append(names, a.Name)
		}
	}
	return names
}
