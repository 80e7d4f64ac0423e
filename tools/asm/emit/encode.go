package emit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// encoded is an instruction of AVX-512 that Go's assembler does not know. Generators use another instruction, of the same operands, as a stand-in, so
// that avo chooses the registers; Encode then replaces it by the bytes of the one that is meant. All have opcodes of map 0F38 with W 0 and vectors of
// 512 bits: dst, source and a second source, which may be in memory, whole or as one value that is broadcast.
type encoded struct {
	name   string
	prefix byte // pp: 1 stands for 66, 2 for F3, 3 for F2
	opcode byte
}

// standIns are the encoded instructions by the names of their stand-ins, which kernels use for nothing else.
var standIns = map[string]encoded{
	"VPDPWSSD": {"VDPBF16PS", 2, 0x52},
	"VPSRLVD":  {"VCVTNE2PS2BF16", 3, 0x72},
}

// DotPairs adds to each float32 lane of sums the products of its pair of bfloat16 values of a and of b, the odd ones first; a may be in memory.
func DotPairs(a Op, b, sums reg.VecVirtual) { VPDPWSSD(a, b, sums) }

// DotPairsEach is DotPairs for one pair in memory, which is that of every lane.
func DotPairsEach(a Mem, b, sums reg.VecVirtual) { VPDPWSSD_BCST(a, b, sums) }

// RoundPairs rounds the values of low, which may be in memory, and then those of high to bfloat16, to nearest even.
func RoundPairs(low Op, high, to reg.VecVirtual) { VPSRLVD(low, high, to) }

var (
	instruction = regexp.MustCompile(`^\t([A-Z0-9]+)(\.BCST)? +(.+), Z(\d+), Z(\d+)$`)
	memory      = regexp.MustCompile(`^(-?\d+)?\(([A-Z0-9]+)\)(?:\(([A-Z0-9]+)\*([1248])\))?$`)
)

// Encode replaces stand-ins in the text of an assembly file.
func Encode(text string) (string, error) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		m := instruction.FindStringSubmatch(line)
		if m == nil || standIns[m[1]].name == "" {
			continue
		}
		code, err := standIns[m[1]].bytes(m[3], m[2] != "", number(m[4]), number(m[5]))
		if err != nil {
			return "", fmt.Errorf("%s: %w", line, err)
		}
		var to strings.Builder
		for k, b := range code {
			if k > 0 {
				to.WriteString("; ")
			}
			fmt.Fprintf(&to, "BYTE $0x%02x", b)
		}
		lines[i] = fmt.Sprintf("\t%s // %s%s %s, Z%s, Z%s", &to, standIns[m[1]].name, m[2], m[3], m[4], m[5])
	}
	return strings.Join(lines, "\n"), nil
}

func number(digits string) int { n, _ := strconv.Atoi(digits); return n }

// bytes encodes the instruction (Intel's manual, volume 2, section 2.7): rm is a vector register or in memory, dst and source are vector registers.
func (e encoded) bytes(rm string, broadcast bool, source, dst int) ([]byte, error) {
	const map0F38, fixed, bits512 = 2, 1 << 2, 2 << 5
	p0 := byte(map0F38) | inverted(dst, 3)<<7 | inverted(dst, 4)<<4 // R and R'
	p1 := byte(fixed) | e.prefix | byte(^source&15)<<3              // vvvv
	p2 := byte(bits512) | inverted(source, 4)<<3                    // V'
	if broadcast {
		p2 |= 1 << 4
	}
	if strings.HasPrefix(rm, "Z") {
		r := number(rm[1:])
		p0 |= inverted(r, 4)<<6 | inverted(r, 3)<<5 // X and B
		return []byte{0x62, p0, p1, p2, e.opcode, 3<<6 | byte(dst&7)<<3 | byte(r&7)}, nil
	}
	m := memory.FindStringSubmatch(rm)
	if m == nil {
		return nil, fmt.Errorf("operand %q is neither a vector register nor in memory behind registers", rm)
	}
	base, known := general[m[2]]
	index, scaled := 4, byte(0) // none
	if m[3] != "" {
		var ok bool
		index, ok = general[m[3]]
		known = known && ok && index != 4
		scaled = map[string]byte{"1": 0, "2": 1, "4": 2, "8": 3}[m[4]]
	}
	if !known {
		return nil, fmt.Errorf("operand %q has an unknown register", rm)
	}
	p0 |= inverted(index, 3)<<6 | inverted(base, 3)<<5
	unit := 64
	if broadcast {
		unit = 4
	}
	code := []byte{0x62, p0, p1, p2, e.opcode}
	disp := number(m[1])
	mode := byte(2)
	switch short := disp / unit; {
	case disp == 0 && base&7 != 5:
		mode = 0
	case disp%unit == 0 && short == int(int8(short)):
		mode = 1
	}
	if m[3] != "" || base&7 == 4 {
		code = append(code, mode<<6|byte(dst&7)<<3|4, scaled<<6|byte(index&7)<<3|byte(base&7))
	} else {
		code = append(code, mode<<6|byte(dst&7)<<3|byte(base&7))
	}
	switch mode {
	case 1:
		code = append(code, byte(int8(disp/unit)))
	case 2:
		code = append(code, byte(disp), byte(disp>>8), byte(disp>>16), byte(disp>>24))
	}
	return code, nil
}

// inverted is 1 if a bit of a register's number is 0: EVEX stores these bits inverted.
func inverted(register, bit int) byte { return byte(^register >> bit & 1) }

// general are the numbers of the general registers by the names of Go's assembler.
var general = map[string]int{
	"AX": 0, "CX": 1, "DX": 2, "BX": 3, "SP": 4, "BP": 5, "SI": 6, "DI": 7,
	"R8": 8, "R9": 9, "R10": 10, "R11": 11, "R12": 12, "R13": 13, "R14": 14, "R15": 15,
}
