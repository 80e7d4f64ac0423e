package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// larger emits kernels that keep the larger of value[i] and x[i], of equals value[i], and say with a code which it is: step gives x[i]
// the code c, merge the code from[i] + c.
func (s isa) larger() {
	for _, merge := range []bool{false, true} {
		name, args, doc := "largerStep", "value *float32, code *int32, x *float32, n int, c int32", "keeps the larger of value and x, which has code c."
		if merge {
			name, args = "largerMerge", "value *float32, code *int32, x *float32, from *int32, n int, c int32"
			doc = "keeps the larger of value and x, which has code from+c."
		}
		s.text(name, args, doc)
		value, code, x := Load(Param("value"), GP64()), Load(Param("code"), GP64()), Load(Param("x"), GP64())
		var from reg.Register
		if merge {
			from = Load(Param("from"), GP64())
		}
		c, low := s.v(), XMM()
		VMOVD(Load(Param("c"), GP32()), low)
		VPBROADCASTD(low, c)
		s.eachVector(func(at reg.GPVirtual) {
			v, best := s.load(Mem{Base: value, Index: at, Scale: 4}), s.load(Mem{Base: code, Index: at, Scale: 4})
			other := c
			if merge {
				other = s.iadd(c, Mem{Base: from, Index: at, Scale: 4})
			}
			s.keepLarger(s.load(Mem{Base: x, Index: at, Scale: 4}), other, v, best)
			VMOVUPS(v, Mem{Base: value, Index: at, Scale: 4})
			VMOVUPS(best, Mem{Base: code, Index: at, Scale: 4})
		})
		s.ret()
	}
}
