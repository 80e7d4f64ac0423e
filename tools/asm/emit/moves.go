package emit

import (
	"slices"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/reg"
)

// PruneMoves makes avo drop moves of a vector register to itself, which come from copies whose source is not used again. avo's own pass knows
// only general registers.
func (s ISA) PruneMoves() {
	pass.Compile = pass.Concat(pass.Compile, pass.FunctionPass(func(fn *ir.Function) error {
		fn.Nodes = slices.DeleteFunc(fn.Nodes, func(n ir.Node) bool {
			i, ok := n.(*ir.Instruction)
			if !ok || i.Opcode != "VMOVUPS" || len(i.Operands) != 2 || i.Operands[0] != i.Operands[1] {
				return false
			}
			r, ok := i.Operands[0].(reg.Register)
			return ok && r.Size() == uint(4*s.Width)
		})
		return nil
	}))
}
