package arm64

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEncode: the disassembler of GNU's binutils reads every instruction of the tables as it is shown there, for random registers.
func TestEncode(t *testing.T) {
	objdump, err := exec.LookPath("aarch64-linux-gnu-objdump")
	if err != nil {
		t.Skip("there is no aarch64-linux-gnu-objdump; it is in Debian's binutils-aarch64-linux-gnu")
	}
	draw := rand.New(rand.NewPCG(1, 2))
	var code []byte
	var want []string
	enter := func(name, shown string, d, n, m int) {
		code = binary.LittleEndian.AppendUint32(code, encode(name, d, n, m))
		want = append(want, strings.NewReplacer("{d}", strconv.Itoa(d), "{n}", strconv.Itoa(n), "{m}", strconv.Itoa(m)).Replace(shown))
	}
	for _, name := range slices.Sorted(maps.Keys(words)) {
		for range 30 {
			m := 0
			if strings.Contains(words[name].shown, "{m}") {
				m = draw.IntN(32)
				if strings.Contains(words[name].shown, "x{m}") {
					m %= 30 // general registers end at 30
				}
			}
			enter(name, words[name].shown, draw.IntN(30), draw.IntN(30), m)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shifts)) {
		lane := 32
		if strings.Contains(name, "8H") {
			lane = 16
		}
		for bits := 1; bits < lane; bits++ {
			enter(name, shifts[name].shown, draw.IntN(32), draw.IntN(32), bits)
		}
	}
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "aarch64", "-M", "no-aliases", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) >= 3 {
			got = append(got, strings.Join(fields[2:], " "))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d instructions, want %d", len(got), len(want))
	}
	for i := range got {
		plain := strings.NewReplacer("{ ", "{", " }", "}").Replace(got[i])
		if plain != want[i] {
			t.Errorf("%08x is %q, want %q", binary.LittleEndian.Uint32(code[4*i:]), plain, want[i])
		}
	}
}
