package tune

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// machineLine identifies the kind of computer, as far as it determines which algorithms are fastest: the processor's model, the vector
// instructions in use and a core's L2 cache. It does not include the number of threads, so that a file serves runs with any number.
func machineLine(spec cpe.Spec) string {
	level, _, _ := strings.Cut(isa.Name(), " ")
	return fmt.Sprintf("%s, %s, %d KB L2", processor("/proc/cpuinfo"), level, spec.LDMBytes>>10)
}

// processor returns the first model name of a file like Linux's /proc/cpuinfo, or the architecture.
func processor(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		field, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(field) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
