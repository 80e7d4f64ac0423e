package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// FoldedShape is the convolution of folded images.
var FoldedShape = folded

// MeshInBlocks prepares a kernel of winograd2-mesh whose blocks have at most the given number of values.
func MeshInBlocks(m *cpe.Machine, p *conv.Problem, points int) (*conv.Task, error) {
	t := conv.NewTask(m, p)
	return t, newMesh(&task{Task: t, form: formOf(&p.Shape, shape.Winograd2)}, points)
}

// MostMeshPoints bounds the values of a block.
const MostMeshPoints = meshPoints
