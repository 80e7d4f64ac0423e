package arm64

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors writes instructions on vectors of four float32 or two float64 values.
var vectors map[string]lower

func init() {
	vectors = map[string]lower{
		"VADDPS": three("FADD4S"), "VSUBPS": three("FSUB4S"), "VMULPS": three("FMUL4S"), "VDIVPS": three("FDIV4S"),
		"VADDPD": three("FADD2D"), "VSUBPD": three("FSUB2D"), "VMULPD": three("FMUL2D"), "VDIVPD": three("FDIV2D"),
		"VPADDD": three("ADD4S"), "VPADDQ": three("ADD2D"), "VPSUBD": three("SUB4S"), "VPCMPGTD": three("CMGT4S"),
		"VPAND": three("AND16B"), "VANDPS": three("AND16B"), "VPOR": three("ORR16B"),
		"VPXOR": three("EOR16B"), "VXORPS": three("EOR16B"), "VXORPD": three("EOR16B"),
		"VUNPCKLPS": three("ZIP14S"), "VUNPCKHPS": three("ZIP24S"), "VUNPCKLPD": three("ZIP12D"), "VUNPCKHPD": three("ZIP22D"),
		"VPCMPEQD": three("CMEQ4S"), "VPACKUSDW": narrowed("SQXTUN4H"), "VPACKUSWB": narrowed("SQXTUN8B"),
		"VPBROADCASTB": func(l *lowering, o []operand.Op) {
			l.line("VLD1R (%s), [V%d.B16]", l.pointer(o[0].(operand.Mem)), l.result(o[1]))
		},
		"VPADDW": three("ADD8H"), "VPSUBW": three("SUB8H"), "VPADDB": three("ADD16B"), "VPMULLW": three("MUL8H"),
		"VPSLLW": shifted("SHL8H"), "VPSRLW": shifted("USHR8H"), "VPSRAW": shifted("SSHR8H"),
		"VPUNPCKLBW": three("ZIP116B"), "VPUNPCKHBW": three("ZIP216B"), "VPUNPCKLWD": three("ZIP18H"), "VPUNPCKHWD": three("ZIP28H"),
		"VPUNPCKLDQ": three("ZIP14S"), "VPUNPCKHDQ": three("ZIP24S"), "VPACKSSDW": narrowed("SQXTN4H"), "VPACKSSWB": narrowed("SQXTN8B"),
		"VPMADDWD": productsOfWords("ADDP4S"), "VPMULHW": productsOfWords("UZP28H"), "VPGATHERDD": gather, "VPALIGNR": aligned,
		"VPMOVZXBW": widenBytes("FMOVD", "UXTL8H"), "VPMOVZXBD": widenBytes("FMOVS", "UXTL8H", "UXTL4S"),
		"VPSHUFB": func(l *lowering, o []operand.Op) { l.vector("TBL16B", l.result(o[2]), l.source(o[1]), l.source(o[0])) },
		"VPANDN":  func(l *lowering, o []operand.Op) { l.vector("BIC16B", l.result(o[2]), l.source(o[0]), l.source(o[1])) },
		"VSQRTPS": two("FSQRT4S"), "VCVTDQ2PS": two("SCVTF4S"), "VCVTPS2DQ": two("FCVTNS4S"), "VCVTPD2PSX": two("FCVTN2S"),
		"VMOVUPS": copyVector, "VMOVAPS": copyVector, "VMOVUPD": copyVector, "VMOVDQU": copyVector, "VMOVDQA": copyVector,
		"VBROADCASTSS": broadcast("FMOVS", "DUP4S"), "VPBROADCASTD": broadcast("FMOVS", "DUP4S"), "VPBROADCASTW": broadcast("", "DUP8H"), "VPBROADCASTQ": broadcast("FMOVD", "DUP2D"),
		"VMOVD": moveScalar("FMOVS"), "VMOVSS": moveScalar("FMOVS"), "VMOVLPS": moveScalar("FMOVD"), "VMOVQ": moveScalar("FMOVD"),
		"VFMADD231PS": three("FMLA4S"), "VFNMADD231PS": three("FMLS4S"), "VFMADD231PD": three("FMLA2D"),
		"VFMADD213PS": multiplyBy("FMLA4S"), "VFMADD213PD": multiplyBy("FMLA2D"),
		"VMAXPS": larger("FCMGT4S", false), "VMINPS": larger("FCMGT4S", true), "VMAXPD": larger("FCMGT2D", false), "VMINPD": larger("FCMGT2D", true),
		"VPSLLD": shifted("SHL4S"), "VPSRLD": shifted("USHR4S"), "VPSRAD": shifted("SSHR4S"), "VPSLLQ": shifted("SHL2D"), "VPSRLQ": shifted("USHR2D"),
		"VCMPPS": compare, "VBLENDVPS": blend, "VPBLENDVB": blend, "VMASKMOVPS": masked, "VCVTPS2PD": doubles, "VPMULUDQ": multiplyHalves,
		"VROUNDPS":  immediate(8, func(l *lowering, o []operand.Op) { l.vector("FRINTN4S", l.result(o[1]), l.source(o[0])) }),
		"VPERMILPS": immediate(0xb1, func(l *lowering, o []operand.Op) { l.vector("REV644S", l.result(o[1]), l.source(o[0])) }),
		"VPSHUFD": func(l *lowering, o []operand.Op) {
			to, from := l.result(o[2]), l.source(o[1])
			switch order := l.number(o[0]); order {
			case 0xee:
				l.vector("UPPER", to, from)
			case 0x4e:
				l.vector("EXT16B8", to, from, from)
			case 0xb1:
				l.vector("REV644S", to, from)
			default:
				l.fail("the order %#x is not known", order)
			}
		},
		"VSHUFPS": func(l *lowering, o []operand.Op) {
			name := map[uint8]string{0x88: "UZP14S", 0xdd: "UZP24S"}[l.number(o[0])]
			if name == "" {
				l.fail("this shuffle is not known")
			}
			three(name)(l, o[1:])
		},
		"VMOVHPS": func(l *lowering, o []operand.Op) {
			upper := l.fresh()
			l.vector("UPPER", upper, l.source(o[0]))
			l.line("FMOVD F%d, %s", upper, l.place(o[1].(operand.Mem)))
		},
		"ADDLANES": func(l *lowering, o []operand.Op) {
			sum := l.fresh()
			l.vector("ADDV4S", sum, l.source(o[0]))
			l.vector("LANE0", number(o[1].(reg.Register)), sum)
		},
		"FMLAELEMENT": element("FMLA4S"), "SDOTELEMENT": element("SDOT4S"),
	}
}

// result is the number of the register that an instruction writes.
func (l *lowering) result(o operand.Op) int {
	r, ok := o.(reg.Register)
	if !ok {
		l.fail("%s is no register", o.Asm())
	}
	return number(r)
}

// number is the value of an immediate operand.
func (l *lowering) number(o operand.Op) uint8 {
	switch o := o.(type) {
	case operand.U8:
		return uint8(o)
	case operand.I8:
		return uint8(o)
	}
	l.fail("%s is no number of eight bits", o.Asm())
	return 0
}

// three is an instruction with two sources, of which x86's assembler writes the second first.
func three(name string) lower {
	return func(l *lowering, o []operand.Op) { l.vector(name, l.result(o[2]), l.source(o[1]), l.source(o[0])) }
}

// element is an instruction with one lane of the first source.
func element(name string) lower {
	return func(l *lowering, o []operand.Op) {
		l.vector(fmt.Sprintf("%s%d", name, l.number(o[0])), l.result(o[3]), l.source(o[2]), l.source(o[1]))
	}
}

func two(name string) lower {
	return func(l *lowering, o []operand.Op) { l.vector(name, l.result(o[1]), l.source(o[0])) }
}

// immediate is an instruction of which one number alone is used.
func immediate(want uint8, write lower) lower {
	return func(l *lowering, o []operand.Op) {
		if got := l.number(o[0]); got != want {
			l.fail("the number is %#x, not %#x", got, want)
		}
		write(l, o[1:])
	}
}

func shifted(name string) lower {
	return func(l *lowering, o []operand.Op) {
		l.vector(name, l.result(o[2]), l.source(o[1]), int(l.number(o[0])))
	}
}

// copyTo copies a register.
func (l *lowering) copyTo(to, from int) {
	if to != from {
		l.vector("ORR16B", to, from, from)
	}
}

func copyVector(l *lowering, o []operand.Op) {
	if m, ok := o[1].(operand.Mem); ok {
		l.line("FMOVQ F%d, %s", l.source(o[0]), l.place(m))
		return
	}
	l.load(l.result(o[1]), o[0])
}

// moveScalar loads or stores one value, or makes a vector of a general register.
func moveScalar(name string) lower {
	return func(l *lowering, o []operand.Op) {
		if m, ok := o[len(o)-1].(operand.Mem); ok {
			l.line("%s F%d, %s", name, l.source(o[0]), l.place(m))
			return
		}
		if m, ok := o[0].(operand.Mem); ok {
			l.loadPlace(name, m, l.result(o[1]))
			return
		}
		l.line("%s %s, F%d", name, l.operand(o[0], ""), l.result(o[1]))
	}
}

func broadcast(load, dup string) lower {
	return func(l *lowering, o []operand.Op) {
		to := l.result(o[1])
		from := to
		if m, ok := o[0].(operand.Mem); ok {
			l.loadPlace(load, m, to)
		} else {
			from = l.source(o[0])
		}
		l.vector(dup, to, from)
	}
}

// multiplyBy multiplies the last operand by the second and adds the first.
func multiplyBy(name string) lower {
	return func(l *lowering, o []operand.Op) {
		to, sum := l.result(o[2]), l.fresh()
		l.load(sum, o[0])
		l.vector(name, sum, l.source(o[1]), to)
		l.copyTo(to, sum)
	}
}

// choose sets a register to yes where the mask has ones, else to no. The mask may be the register.
func (l *lowering) choose(to, mask, yes, no int) {
	switch to {
	case mask:
		l.vector("BSL16B", to, yes, no)
	case no:
		l.vector("BIT16B", to, yes, mask)
	case yes:
		l.vector("BIF16B", to, no, mask)
	default:
		l.copyTo(to, no)
		l.vector("BIT16B", to, yes, mask)
	}
}

// larger is the second operand where it is larger, or smaller, than the first. The first is the result where the operands are equal or one is NaN,
// so that FMAX, whose zeros have an order and whose NaNs stay, would not be the same.
func larger(greater string, smaller bool) lower {
	return func(l *lowering, o []operand.Op) {
		b, a, mask := l.source(o[0]), l.source(o[1]), l.fresh()
		if smaller {
			l.vector(greater, mask, b, a)
		} else {
			l.vector(greater, mask, a, b)
		}
		l.choose(l.result(o[2]), mask, a, b)
	}
}

// compare makes masks of the predicates that emit has.
func compare(l *lowering, o []operand.Op) {
	b, a, to := l.source(o[1]), l.source(o[2]), l.result(o[3])
	switch predicate := l.number(o[0]); predicate {
	case 0x00:
		l.vector("FCMEQ4S", to, a, b)
	case 0x11:
		l.vector("FCMGT4S", to, b, a)
	case 0x02, 0x12:
		l.vector("FCMGE4S", to, b, a)
	case 0x16: // not at most: greater, or one is NaN
		l.vector("FCMGE4S", to, b, a)
		l.vector("NOT16B", to, to)
	case 0x1d:
		l.vector("FCMGE4S", to, a, b)
	case 0x1e:
		l.vector("FCMGT4S", to, a, b)
	case 0x03, 0x07: // unordered: one is NaN; ordered
		ordered := l.fresh()
		l.vector("FCMEQ4S", ordered, a, a)
		if a != b {
			other := l.fresh()
			l.vector("FCMEQ4S", other, b, b)
			l.vector("AND16B", ordered, ordered, other)
		}
		if predicate == 0x03 {
			l.vector("NOT16B", to, ordered)
		} else {
			l.copyTo(to, ordered)
		}
	default:
		l.fail("the predicate %#x is not known", predicate)
	}
}

func blend(l *lowering, o []operand.Op) {
	l.choose(l.result(o[3]), l.source(o[0]), l.source(o[1]), l.source(o[2]))
}

// masked loads or stores the lanes of a mask, without a look at memory of the others. Whole vectors take one load or store; the code for others is behind
// the function's.
func masked(l *lowering, o []operand.Op) {
	mask, least := l.source(o[1]), l.fresh()
	part, done := l.label(), l.label()
	m, isStore := o[2].(operand.Mem)
	var to, data int
	if isStore {
		data = l.source(o[0])
	} else {
		m, to = o[0].(operand.Mem), l.result(o[2])
		if data = to; to == mask {
			data = l.fresh()
		}
	}
	p := l.pointer(m)
	l.vector("UMINV4S", least, mask)
	l.vector("LANE0", 17, least)
	l.line("CBZW R17, %s", part)
	if isStore {
		l.line("FMOVQ F%d, (%s)", data, p)
	} else {
		l.line("FMOVQ (%s), F%d", p, data)
	}
	fmt.Fprintf(l.out, "%s:\n", done)
	if !isStore {
		l.copyTo(to, data)
	}

	code := l.out
	l.out = &l.behind
	fmt.Fprintf(l.out, "\n%s:\n", part)
	if !isStore {
		l.vector("EOR16B", data, data, data)
	}
	if p != temporary {
		l.line("MOVD %s, %s", p, temporary)
	}
	for lane := range 4 {
		next := l.label()
		l.vector(fmt.Sprintf("LANE%d", lane), 17, mask)
		l.line("CBZW R17, %s", next)
		if isStore {
			l.vector(fmt.Sprintf("STORE%d", lane), data, 16)
		} else {
			l.vector(fmt.Sprintf("LOAD%d", lane), data, 16)
		}
		fmt.Fprintf(l.out, "%s:\n", next)
		if lane < 3 {
			l.line("ADD $4, %s", temporary)
		}
	}
	l.line("B %s", done)
	l.out = code
}

// doubles converts the two lower lanes.
func doubles(l *lowering, o []operand.Op) {
	to := l.result(o[1])
	from := to
	if m, ok := o[0].(operand.Mem); ok {
		l.line("FMOVD %s, F%d", l.place(m), to)
	} else {
		from = l.source(o[0])
	}
	l.vector("FCVTL2D", to, from)
}

// multiplyHalves multiplies the lower halves of lanes of 64 bits.
func multiplyHalves(l *lowering, o []operand.Op) {
	a, b := l.fresh(), l.fresh()
	l.vector("XTN2S", a, l.source(o[1]))
	l.vector("XTN2S", b, l.source(o[0]))
	l.vector("UMULL2D", l.result(o[2]), a, b)
}

// narrowed halves the lanes of two vectors and saturates them; x86's assembler writes the upper half's vector first.
func narrowed(name string) lower {
	return func(l *lowering, o []operand.Op) {
		upper, lower, to := l.source(o[0]), l.source(o[1]), l.result(o[2])
		into := to
		if to == upper && upper != lower {
			into = l.fresh()
		}
		l.vector(name, into, lower)
		if upper == lower && to == lower {
			l.vector("DUP2D", into, into)
		} else {
			l.vector(name+"UPPER", into, upper)
		}
		l.copyTo(to, into)
	}
}

// widenBytes makes larger lanes of bytes, by some steps.
func widenBytes(load string, steps ...string) lower {
	return func(l *lowering, o []operand.Op) {
		to := l.result(o[1])
		from := to
		if m, ok := o[0].(operand.Mem); ok {
			l.line("%s %s, F%d", load, l.place(m), to)
		} else {
			from = l.source(o[0])
		}
		for _, step := range steps {
			l.vector(step, to, from)
			from = to
		}
	}
}

// productsOfWords multiplies words, which have signs, and joins the products of the lower and of the upper ones.
func productsOfWords(join string) lower {
	return func(l *lowering, o []operand.Op) {
		b, a, low, high := l.source(o[0]), l.source(o[1]), l.fresh(), l.fresh()
		l.vector("SMULL4S", low, a, b)
		l.vector("SMULL4SUPPER", high, a, b)
		l.vector(join, l.result(o[2]), low, high)
	}
}

// gather loads four values from bytes behind a base. The mask is not looked at: kernels gather whole vectors.
func gather(l *lowering, o []operand.Op) {
	m, to := o[1].(operand.Mem), l.result(o[2])
	if m.Scale != 1 || m.Disp != 0 {
		l.fail("the offsets are not in bytes from the base")
	}
	for lane := range 4 {
		l.vector(fmt.Sprintf("LANE%d", lane), 17, number(m.Index))
		l.line("ADD R17.SXTW, %s, %s", general(m.Base), temporary)
		l.vector(fmt.Sprintf("LOAD%d", lane), to, 16)
	}
}

// aligned are 16 bytes of two vectors side by side, of which the second operand is the lower one.
func aligned(l *lowering, o []operand.Op) {
	l.vector(fmt.Sprintf("EXT16B%d", l.number(o[0])), l.result(o[3]), l.source(o[1]), l.source(o[2]))
}
