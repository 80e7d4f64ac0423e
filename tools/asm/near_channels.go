package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// nearSquares emits scale*Σ x² + shift, the sum being over the window of size channels around each. Local response normalisation wants it
// of images in blocks of channels.
func (s isa) nearSquares(size int) {
	scale, shift := s.constant("scale"), s.constant("shift")
	dst := gp("dst")
	s.eachWindow(size/2, nil, func(window []reg.VecVirtual, at Mem) {
		sum := s.mul(window[0], window[0])
		for _, v := range window[1:] {
			VFMADD231PS(v, v, sum)
		}
		VMOVUPS(s.fma(sum, scale, shift), based(at, dst))
	})
	s.ret()
}

// mulAddNear emits dst += scale*by*Σ x over such windows.
func (s isa) mulAddNear(size int) {
	scale := s.constant("scale")
	dst, by := gp("dst"), gp("by")
	s.eachWindow(size/2, nil, func(window []reg.VecVirtual, at Mem) {
		sum := s.add(window[0], window[1])
		for _, v := range window[2:] {
			VADDPS(v, sum, sum)
		}
		VMOVUPS(s.fma(sum, s.mul(scale, based(at, by)), based(at, dst)), based(at, dst))
	})
	s.ret()
}

// eachWindow emits a loop over n values of x, pixels of a block of channels, of which below and above are the blocks around it; body
// gets, for each vector, those of the channels from half below its own to half above.
func (s isa) eachWindow(half int, fetched []reg.Register, body func(window []reg.VecVirtual, at Mem)) {
	below, x, above := gp("below"), gp("x"), gp("above")
	s.eachPixel(append(fetched, above), func(index reg.GPVirtual, g, disp int) {
		at := Mem{Index: index, Scale: 4, Disp: disp}
		low, high := based(at, x), based(at, x)
		low.Disp -= 4 * s.w
		high.Disp += 4 * s.w
		if g == 0 {
			low = based(at, below)
			low.Disp += 4 * (lanes - s.w)
		}
		if g == lanes/s.w-1 {
			high = based(at, above)
			high.Disp -= 4 * (lanes - s.w)
		}
		body(s.window(half, low, based(at, x), high), at)
	})
}

// window returns the vectors of channels from half below those of a vector to half above; below and above are its neighbours.
func (s isa) window(half int, below, at, above Mem) (window []reg.VecVirtual) {
	own := s.load(at)
	low, high := s.v(), s.v()
	if s.w == lanes {
		low, high = s.load(below), s.load(above)
	} else {
		VPERM2F128(Imm(0x03), below, own, low)
		VPERM2F128(Imm(0x21), above, own, high)
	}
	for d := half; d > 0; d-- {
		v := s.v()
		if s.w == lanes {
			VALIGND(U8(lanes-d), low, own, v)
		} else {
			VPALIGNR(U8(16-4*d), low, own, v)
		}
		window = append(window, v)
	}
	window = append(window, own)
	for d := 1; d <= half; d++ {
		v := s.v()
		if s.w == lanes {
			VALIGND(U8(d), own, high, v)
		} else {
			VPALIGNR(U8(4*d), own, high, v)
		}
		window = append(window, v)
	}
	return window
}
