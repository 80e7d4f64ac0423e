package emit_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// TestEncode: the disassembler of GNU's binutils reads what was meant, for random operands.
func TestEncode(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("there is no objdump; it is in Debian's binutils")
	}
	draw := rand.New(rand.NewPCG(1, 2))
	registers := strings.Fields("AX CX DX BX SP BP SI DI R8 R9 R10 R11 R12 R13 R14 R15")
	var text, want []string
	for range 3000 {
		standIn, name := "VPDPWSSD", "vdpbf16ps"
		if draw.IntN(2) == 0 {
			standIn, name = "VPSRLVD", "vcvtne2ps2bf16"
		}
		source, dst, last := draw.IntN(32), draw.IntN(32), draw.IntN(32)
		at, shown := fmt.Sprintf("Z%d", last), fmt.Sprintf("%%zmm%d", last)
		if draw.IntN(3) > 0 {
			var broadcast string
			if draw.IntN(2) == 0 {
				standIn, broadcast = standIn+".BCST", "{1to16}"
			}
			at, shown = operand(draw, registers)
			shown += broadcast
		}
		text = append(text, fmt.Sprintf("\t%s %s, Z%d, Z%d", standIn, at, source, dst))
		want = append(want, fmt.Sprintf("%s %s,%%zmm%d,%%zmm%d", name, shown, source, dst))
	}
	out, err := emit.Encode(strings.Join(text, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	list := disassembled(t, objdump, out)
	if len(list) != len(want) {
		t.Errorf("%d instructions, want %d", len(list), len(want))
	}
	for i, got := range list {
		if i >= len(want) || got != want[i] {
			t.Fatalf("instruction %d, %s, is %s", i, text[min(i, len(text)-1)], got)
		}
	}
}

// operand is a random place in memory, as Go's and as GNU's assembler write it.
func operand(draw *rand.Rand, registers []string) (at, shown string) {
	disp := []int{0, 4, 64, -64, 508, 512, 8128, 8192, -8192, -8256, 60, 1 << 20}[draw.IntN(12)]
	base, index := draw.IntN(16), draw.IntN(16)
	if at = fmt.Sprintf("(%s)", registers[base]); disp != 0 {
		at = fmt.Sprint(disp) + at
		shown = fmt.Sprintf("%#x", disp)
	} else if base&7 == 5 {
		shown = "0x0" // there is no shorter form
	}
	if index == 4 || draw.IntN(2) == 0 {
		return at, shown + fmt.Sprintf("(%s)", gnu(registers[base]))
	}
	scale := 1 << draw.IntN(4)
	return at + fmt.Sprintf("(%s*%d)", registers[index], scale), shown + fmt.Sprintf("(%s,%s,%d)", gnu(registers[base]), gnu(registers[index]), scale)
}

// gnu is GNU's name of a general register.
func gnu(register string) string {
	if register[0] == 'R' {
		return "%" + strings.ToLower(register)
	}
	return "%r" + strings.ToLower(register)
}

// disassembled are the instructions that objdump reads in the bytes of a text.
func disassembled(t *testing.T, objdump, text string) (list []string) {
	var code []byte
	for _, m := range regexp.MustCompile(`BYTE \$0x(..)`).FindAllStringSubmatch(text, -1) {
		var b byte
		fmt.Sscanf(m[1], "%x", &b)
		code = append(code, b)
	}
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-w", "-b", "binary", "-m", "i386:x86-64", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
			list = append(list, strings.Join(strings.Fields(fields[2]), " "))
		}
	}
	return list
}
