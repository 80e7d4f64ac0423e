package arm64

import "fmt"

// word is an instruction that Go's assembler does not know: its bits without registers, and GNU's name and operands for the test, in which d, n
// and m stand for the numbers of registers.
type word struct {
	bits  uint32
	shown string
}

// words are the instructions by names of our own: GNU's name and the kind of lanes (4S, 2D, 16B). The numbers of three registers d, n, m go to
// bits 0, 5 and 16; instructions with two registers have no m. From: Arm Architecture Reference Manual for A-profile, C7.
var words = map[string]word{
	"FADD4S":       {0x4e20d400, "fadd v{d}.4s, v{n}.4s, v{m}.4s"},
	"FSUB4S":       {0x4ea0d400, "fsub v{d}.4s, v{n}.4s, v{m}.4s"},
	"FMUL4S":       {0x6e20dc00, "fmul v{d}.4s, v{n}.4s, v{m}.4s"},
	"FDIV4S":       {0x6e20fc00, "fdiv v{d}.4s, v{n}.4s, v{m}.4s"},
	"FMLA4S":       {0x4e20cc00, "fmla v{d}.4s, v{n}.4s, v{m}.4s"},
	"FMLS4S":       {0x4ea0cc00, "fmls v{d}.4s, v{n}.4s, v{m}.4s"},
	"FCMEQ4S":      {0x4e20e400, "fcmeq v{d}.4s, v{n}.4s, v{m}.4s"},
	"FCMGE4S":      {0x6e20e400, "fcmge v{d}.4s, v{n}.4s, v{m}.4s"},
	"FCMGT4S":      {0x6ea0e400, "fcmgt v{d}.4s, v{n}.4s, v{m}.4s"},
	"FADD2D":       {0x4e60d400, "fadd v{d}.2d, v{n}.2d, v{m}.2d"},
	"FSUB2D":       {0x4ee0d400, "fsub v{d}.2d, v{n}.2d, v{m}.2d"},
	"FMUL2D":       {0x6e60dc00, "fmul v{d}.2d, v{n}.2d, v{m}.2d"},
	"FDIV2D":       {0x6e60fc00, "fdiv v{d}.2d, v{n}.2d, v{m}.2d"},
	"FMLA2D":       {0x4e60cc00, "fmla v{d}.2d, v{n}.2d, v{m}.2d"},
	"FCMGT2D":      {0x6ee0e400, "fcmgt v{d}.2d, v{n}.2d, v{m}.2d"},
	"ADD4S":        {0x4ea08400, "add v{d}.4s, v{n}.4s, v{m}.4s"},
	"ADD2D":        {0x4ee08400, "add v{d}.2d, v{n}.2d, v{m}.2d"},
	"SUB4S":        {0x6ea08400, "sub v{d}.4s, v{n}.4s, v{m}.4s"},
	"CMGT4S":       {0x4ea03400, "cmgt v{d}.4s, v{n}.4s, v{m}.4s"},
	"CMEQ4S":       {0x6ea08c00, "cmeq v{d}.4s, v{n}.4s, v{m}.4s"},
	"UMULL2D":      {0x2ea0c000, "umull v{d}.2d, v{n}.2s, v{m}.2s"},
	"ADD8H":        {0x4e608400, "add v{d}.8h, v{n}.8h, v{m}.8h"},
	"SUB8H":        {0x6e608400, "sub v{d}.8h, v{n}.8h, v{m}.8h"},
	"MUL8H":        {0x4e609c00, "mul v{d}.8h, v{n}.8h, v{m}.8h"},
	"ADD16B":       {0x4e208400, "add v{d}.16b, v{n}.16b, v{m}.16b"},
	"ADDP4S":       {0x4ea0bc00, "addp v{d}.4s, v{n}.4s, v{m}.4s"},
	"SMULL4S":      {0x0e60c000, "smull v{d}.4s, v{n}.4h, v{m}.4h"},
	"SMULL4SUPPER": {0x4e60c000, "smull2 v{d}.4s, v{n}.8h, v{m}.8h"},
	"AND16B":       {0x4e201c00, "and v{d}.16b, v{n}.16b, v{m}.16b"},
	"BIC16B":       {0x4e601c00, "bic v{d}.16b, v{n}.16b, v{m}.16b"},
	"ORR16B":       {0x4ea01c00, "orr v{d}.16b, v{n}.16b, v{m}.16b"},
	"EOR16B":       {0x6e201c00, "eor v{d}.16b, v{n}.16b, v{m}.16b"},
	"BSL16B":       {0x6e601c00, "bsl v{d}.16b, v{n}.16b, v{m}.16b"},
	"BIT16B":       {0x6ea01c00, "bit v{d}.16b, v{n}.16b, v{m}.16b"},
	"BIF16B":       {0x6ee01c00, "bif v{d}.16b, v{n}.16b, v{m}.16b"},
	"ZIP14S":       {0x4e803800, "zip1 v{d}.4s, v{n}.4s, v{m}.4s"},
	"ZIP24S":       {0x4e807800, "zip2 v{d}.4s, v{n}.4s, v{m}.4s"},
	"UZP14S":       {0x4e801800, "uzp1 v{d}.4s, v{n}.4s, v{m}.4s"},
	"UZP24S":       {0x4e805800, "uzp2 v{d}.4s, v{n}.4s, v{m}.4s"},
	"ZIP116B":      {0x4e003800, "zip1 v{d}.16b, v{n}.16b, v{m}.16b"},
	"ZIP216B":      {0x4e007800, "zip2 v{d}.16b, v{n}.16b, v{m}.16b"},
	"ZIP18H":       {0x4e403800, "zip1 v{d}.8h, v{n}.8h, v{m}.8h"},
	"ZIP28H":       {0x4e407800, "zip2 v{d}.8h, v{n}.8h, v{m}.8h"},
	"UZP28H":       {0x4e405800, "uzp2 v{d}.8h, v{n}.8h, v{m}.8h"},
	"TBL16B":       {0x4e000000, "tbl v{d}.16b, {v{n}.16b}, v{m}.16b"},
	"ZIP12D":       {0x4ec03800, "zip1 v{d}.2d, v{n}.2d, v{m}.2d"},
	"ZIP22D":       {0x4ec07800, "zip2 v{d}.2d, v{n}.2d, v{m}.2d"},

	"FMLA4S0": {0x4f801000, "fmla v{d}.4s, v{n}.4s, v{m}.s[0]"},
	"FMLA4S1": {0x4fa01000, "fmla v{d}.4s, v{n}.4s, v{m}.s[1]"},
	"FMLA4S2": {0x4f801800, "fmla v{d}.4s, v{n}.4s, v{m}.s[2]"},
	"FMLA4S3": {0x4fa01800, "fmla v{d}.4s, v{n}.4s, v{m}.s[3]"},

	"SDOT4S0":  {0x4f80e000, "sdot v{d}.4s, v{n}.16b, v{m}.4b[0]"},
	"SDOT4S1":  {0x4fa0e000, "sdot v{d}.4s, v{n}.16b, v{m}.4b[1]"},
	"SDOT4S2":  {0x4f80e800, "sdot v{d}.4s, v{n}.16b, v{m}.4b[2]"},
	"SDOT4S3":  {0x4fa0e800, "sdot v{d}.4s, v{n}.16b, v{m}.4b[3]"},
	"EXT16B4":  {0x6e002000, "ext v{d}.16b, v{n}.16b, v{m}.16b, #4"},
	"EXT16B8":  {0x6e004000, "ext v{d}.16b, v{n}.16b, v{m}.16b, #8"},
	"EXT16B12": {0x6e006000, "ext v{d}.16b, v{n}.16b, v{m}.16b, #12"},

	"SQXTUN4H":      {0x2e612800, "sqxtun v{d}.4h, v{n}.4s"},
	"SQXTUN4HUPPER": {0x6e612800, "sqxtun2 v{d}.8h, v{n}.4s"},
	"SQXTUN8B":      {0x2e212800, "sqxtun v{d}.8b, v{n}.8h"},
	"SQXTUN8BUPPER": {0x6e212800, "sqxtun2 v{d}.16b, v{n}.8h"},
	"SQXTN4H":       {0x0e614800, "sqxtn v{d}.4h, v{n}.4s"},
	"SQXTN4HUPPER":  {0x4e614800, "sqxtn2 v{d}.8h, v{n}.4s"},
	"SQXTN8B":       {0x0e214800, "sqxtn v{d}.8b, v{n}.8h"},
	"SQXTN8BUPPER":  {0x4e214800, "sqxtn2 v{d}.16b, v{n}.8h"},
	"DUP8H":         {0x4e020400, "dup v{d}.8h, v{n}.h[0]"},
	"UXTL8H":        {0x2f08a400, "ushll v{d}.8h, v{n}.8b, #0"},
	"UXTL4S":        {0x2f10a400, "ushll v{d}.4s, v{n}.4h, #0"},
	"ADDV4S":        {0x4eb1b800, "addv s{d}, v{n}.4s"},

	"FSQRT4S":      {0x6ea1f800, "fsqrt v{d}.4s, v{n}.4s"},
	"FRINTN4S":     {0x4e218800, "frintn v{d}.4s, v{n}.4s"},
	"FCVTNS4S":     {0x4e21a800, "fcvtns v{d}.4s, v{n}.4s"},
	"SCVTF4S":      {0x4e21d800, "scvtf v{d}.4s, v{n}.4s"},
	"FCVTL2D":      {0x0e617800, "fcvtl v{d}.2d, v{n}.2s"},
	"FCVTN2S":      {0x0e616800, "fcvtn v{d}.2s, v{n}.2d"},
	"XTN2S":        {0x0ea12800, "xtn v{d}.2s, v{n}.2d"},
	"NOT16B":       {0x6e205800, "not v{d}.16b, v{n}.16b"},
	"REV644S":      {0x4ea00800, "rev64 v{d}.4s, v{n}.4s"},
	"UMINV4S":      {0x6eb1a800, "uminv s{d}, v{n}.4s"},
	"DUP4S":        {0x4e040400, "dup v{d}.4s, v{n}.s[0]"},
	"DUP2D":        {0x4e080400, "dup v{d}.2d, v{n}.d[0]"},
	"UPPER":        {0x4e180400, "dup v{d}.2d, v{n}.d[1]"},
	"LANE0":        {0x0e043c00, "umov w{d}, v{n}.s[0]"},
	"LANE1":        {0x0e0c3c00, "umov w{d}, v{n}.s[1]"},
	"LANE2":        {0x0e143c00, "umov w{d}, v{n}.s[2]"},
	"LANE3":        {0x0e1c3c00, "umov w{d}, v{n}.s[3]"},
	"LOAD0":        {0x0d408000, "ld1 {v{d}.s}[0], [x{n}]"},
	"LOAD1":        {0x0d409000, "ld1 {v{d}.s}[1], [x{n}]"},
	"LOAD2":        {0x4d408000, "ld1 {v{d}.s}[2], [x{n}]"},
	"LOAD3":        {0x4d409000, "ld1 {v{d}.s}[3], [x{n}]"},
	"FMOVSINDEXED": {0xbc606800, "ldr s{d}, [x{n}, x{m}]"},
	"FMOVSSCALED":  {0xbc607800, "ldr s{d}, [x{n}, x{m}, lsl #2]"},
	"FMOVDINDEXED": {0xfc606800, "ldr d{d}, [x{n}, x{m}]"},
	"FMOVDSCALED":  {0xfc607800, "ldr d{d}, [x{n}, x{m}, lsl #3]"},
	"FMOVQINDEXED": {0x3ce06800, "ldr q{d}, [x{n}, x{m}]"},
	"STORE0":       {0x0d008000, "st1 {v{d}.s}[0], [x{n}]"},
	"STORE1":       {0x0d009000, "st1 {v{d}.s}[1], [x{n}]"},
	"STORE2":       {0x4d008000, "st1 {v{d}.s}[2], [x{n}]"},
	"STORE3":       {0x4d009000, "st1 {v{d}.s}[3], [x{n}]"},
}

// shift is an instruction whose second operand is a number of bits, at most the lane's less one: field is the number in bits 16 to 22.
type shift struct {
	word
	field func(bits int) int
}

var shifts = map[string]shift{
	"SHL8H":  {word{0x4f005400, "shl v{d}.8h, v{n}.8h, #{m}"}, func(bits int) int { return 16 + bits }},
	"USHR8H": {word{0x6f000400, "ushr v{d}.8h, v{n}.8h, #{m}"}, func(bits int) int { return 32 - bits }},
	"SSHR8H": {word{0x4f000400, "sshr v{d}.8h, v{n}.8h, #{m}"}, func(bits int) int { return 32 - bits }},
	"SHL4S":  {word{0x4f005400, "shl v{d}.4s, v{n}.4s, #{m}"}, func(bits int) int { return 32 + bits }},
	"USHR4S": {word{0x6f000400, "ushr v{d}.4s, v{n}.4s, #{m}"}, func(bits int) int { return 64 - bits }},
	"SSHR4S": {word{0x4f000400, "sshr v{d}.4s, v{n}.4s, #{m}"}, func(bits int) int { return 64 - bits }},
	"SHL2D":  {word{0x4f005400, "shl v{d}.2d, v{n}.2d, #{m}"}, func(bits int) int { return 64 + bits }},
	"USHR2D": {word{0x6f000400, "ushr v{d}.2d, v{n}.2d, #{m}"}, func(bits int) int { return 128 - bits }},
}

// encode is the word of an instruction. m is a register, a number of bits, or 0 for an instruction with two registers.
func encode(name string, d, n, m int) uint32 {
	at := func(shift, number int) uint32 { return uint32(number) << shift }
	if s, ok := shifts[name]; ok {
		return s.bits | at(0, d) | at(5, n) | at(16, s.field(m))
	}
	w, ok := words[name]
	if !ok {
		panic(fmt.Sprintf("arm64: there is no encoding of %s", name))
	}
	return w.bits | at(0, d) | at(5, n) | at(16, m)
}
