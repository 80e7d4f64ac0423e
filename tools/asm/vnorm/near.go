package vnorm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// NearSquares emits scale*Σ x² + shift for each channel of images in blocks of channels; the sum is over the window of size channels around it.
// Local response normalisation needs it.
func NearSquares(s emit.ISA, size int) {
	scale, shift := s.Constant("scale"), s.Constant("shift")
	dst := emit.GP("dst")
	eachWindow(s, size/2, nil, func(window []reg.VecVirtual, at Mem) {
		sum := s.Mul(window[0], window[0])
		for _, v := range window[1:] {
			VFMADD231PS(v, v, sum)
		}
		VMOVUPS(s.Fma(sum, scale, shift), emit.Based(at, dst))
	})
	s.Ret()
}

// MulAddNear emits dst += scale*by*Σ x over such windows.
func MulAddNear(s emit.ISA, size int) {
	scale := s.Constant("scale")
	dst, by := emit.GP("dst"), emit.GP("by")
	eachWindow(s, size/2, nil, func(window []reg.VecVirtual, at Mem) {
		sum := s.Add(window[0], window[1])
		for _, v := range window[2:] {
			VADDPS(v, sum, sum)
		}
		VMOVUPS(s.Fma(sum, s.Mul(scale, emit.Based(at, by)), emit.Based(at, dst)), emit.Based(at, dst))
	})
	s.Ret()
}

// eachWindow emits a loop over n values of x, pixels of a block of channels; below and above are the neighbouring blocks. For each vector, body gets
// the vectors of the channels from half below its own to half above.
func eachWindow(s emit.ISA, half int, fetched []reg.Register, body func(window []reg.VecVirtual, at Mem)) {
	below, x, above := emit.GP("below"), emit.GP("x"), emit.GP("above")
	eachPixel(s, append(fetched, above), func(index reg.GPVirtual, g, disp int) {
		at := Mem{Index: index, Scale: 4, Disp: disp}
		low, high := emit.Based(at, x), emit.Based(at, x)
		low.Disp -= 4 * s.Width
		high.Disp += 4 * s.Width
		if g == 0 {
			low = emit.Based(at, below)
			low.Disp += 4 * (emit.Lanes - s.Width)
		}
		if g == emit.Lanes/s.Width-1 {
			high = emit.Based(at, above)
			high.Disp -= 4 * (emit.Lanes - s.Width)
		}
		body(window(s, half, low, emit.Based(at, x), high), at)
	})
}

// window returns the vectors of channels from half below those of a vector to half above; below and above are its neighbours.
func window(s emit.ISA, half int, below, at, above Mem) (window []reg.VecVirtual) {
	own := s.Load(at)
	low, high := s.V(), s.V()
	if s.Width != 8 {
		low, high = s.Load(below), s.Load(above)
	} else {
		VPERM2F128(Imm(0x03), below, own, low)
		VPERM2F128(Imm(0x21), above, own, high)
	}
	for d := half; d > 0; d-- {
		v := s.V()
		if s.EVEX {
			VALIGND(U8(emit.Lanes-d), low, own, v)
		} else {
			VPALIGNR(U8(16-4*d), low, own, v)
		}
		window = append(window, v)
	}
	window = append(window, own)
	for d := 1; d <= half; d++ {
		v := s.V()
		if s.EVEX {
			VALIGND(U8(d), own, high, v)
		} else {
			VPALIGNR(U8(4*d), own, high, v)
		}
		window = append(window, v)
	}
	return window
}
