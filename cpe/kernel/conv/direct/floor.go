package direct

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// steps are those of products whose results lie in planes.
func steps(p *conv.Problem, s op.Step) error {
	if p.Direction == shape.Forward {
		return op.Among(s, op.Floor)
	}
	return op.Among(s)
}

// multiply computes a core group's parts of a product. With below it then replaces the negative results by 0.
func multiply(g *cpe.CoreGroup, split *gemm.Split, product *gemm.Nest, job *gemm.Job, below bool) error {
	return split.Share(g, job, func() error {
		if err := product.Run(g, job); err != nil || !below {
			return err
		}
		floor(job)
		return nil
	})
}

// floor replaces the negative results of a core group's job by 0, soon after they are computed.
func floor(job *gemm.Job) {
	c := &job.C
	for row := job.M0; row < job.M1; row++ {
		for col := job.N0; col < job.N1; {
			n := min(c.Run-col%c.Run, job.N1-col)
			y := c.Data[row*c.Ld+col/c.Run*c.Jump+col%c.Run:][:n]
			vec.ReLU(y, y, 0)
			col += n
		}
	}
}
