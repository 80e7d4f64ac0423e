package modeltime

import (
	"embed"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/machinepb"
)

//go:embed processors/*.prototxt
var processors embed.FS

// Processor is a processor with caches whose cores run this program's own plans; see Cores. Its fields are those of proto/machine.proto.
type Processor struct{ *machinepb.Processor }

// Processors returns the names of the processors that the program knows.
func Processors() []string {
	files, err := processors.ReadDir("processors")
	if err != nil {
		panic("modeltime: embedded processors: " + err.Error())
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".prototxt"))
	}
	slices.Sort(names)
	return names
}

// LoadProcessor returns a processor by its name, or from a user's file.
func LoadProcessor(nameOrFile string) (Processor, error) {
	file := path.Join("processors", nameOrFile+".prototxt")
	text, err := processors.ReadFile(file)
	if err != nil {
		file = nameOrFile
		text, err = swproto.ReadFile(file)
	}
	if errors.Is(err, os.ErrNotExist) {
		err = &suggest.UnknownError{Kind: "processor", Kinds: "processors", Name: nameOrFile, Known: Processors(), OrFile: true}
	}
	if err != nil {
		return Processor{}, err
	}
	p := Processor{&machinepb.Processor{}}
	source, err := swproto.UnmarshalText(file, text, p.Processor)
	if err != nil {
		return p, err
	}
	if field, why := p.wrong(); field != "" {
		return p, fmt.Errorf("%s: processor %q: %s %s", source.Nearest(field), p.GetName(), field, why)
	}
	return p, nil
}

// wrong returns the first field with an impossible figure, and what is wrong with it.
func (p Processor) wrong() (field, why string) {
	for _, f := range []struct {
		name  string
		value float64
		least float64
	}{
		{"sockets", float64(p.GetSockets()), 1}, {"cores", float64(p.GetCores()), 1}, {"clock_ghz", p.GetClockGhz(), 1e-3},
		{"flops_per_cycle", p.GetFlopsPerCycle(), 1e-3}, {"bf16_flops_per_cycle", p.GetBf16FlopsPerCycle(), 0},
		{"l1_bytes", float64(p.GetL1Bytes()), 1 << 10}, {"l2_bytes", float64(p.GetL2Bytes()), 1 << 10}, {"l3_bytes", float64(p.GetL3Bytes()), 0},
		{"l3_core_gbytes_per_s", p.GetL3CoreGbytesPerS(), 1e-3}, {"core_gbytes_per_s", p.GetCoreGbytesPerS(), 1e-3},
		{"socket_gbytes_per_s", p.GetSocketGbytesPerS(), 1e-3}, {"link_gbytes_per_s", p.GetLinkGbytesPerS(), 0}, {"line_ns", p.GetLineNs(), 0},
	} {
		if !(f.value >= f.least) || math.IsInf(f.value, 0) || f.value > 1e15 {
			return f.name, fmt.Sprintf("must be %g or more, it is %g", f.least, f.value)
		}
	}
	switch {
	case cpe.CheckCores(p.most()) != nil:
		return "cores", fmt.Sprintf("%d in %d sockets are too many", p.GetCores(), p.GetSockets())
	case p.GetSockets() > 1 && p.GetLinkGbytesPerS() == 0:
		return "link_gbytes_per_s", "is missing, and there are several sockets"
	}
	return "", ""
}

// most is the number of all cores.
func (p Processor) most() int { return int(min(p.GetSockets(), 1<<20) * min(p.GetCores(), 1<<20)) }

// spec describes a number of the processor's cores to this computer's planners. The vectors are this computer's.
func (p Processor) spec(host cpe.Spec, cores int) cpe.Spec {
	host.Name, host.CoreGroups = p.GetName(), cores
	host.L1Bytes, host.LDMBytes, host.L3Bytes = int(p.GetL1Bytes()), int(p.GetL2Bytes()), int(p.GetL3Bytes())
	return host
}

// sockets is the number of sockets that a number of cores fill, one after the other.
func (p Processor) sockets(cores int) int {
	return (cores + int(p.GetCores()) - 1) / int(p.GetCores())
}

// cacheBytes is the size of the caches of a number of cores, all together.
func (p Processor) cacheBytes(cores int) float64 {
	return float64(cores)*float64(p.GetL2Bytes()) + float64(p.sockets(cores))*float64(p.GetL3Bytes())
}

// memory returns the bandwidth of memory, in bytes a second, of some busy ones of a number of cores. Arrays lie evenly in the memory of all sockets in
// use, whoever reads them, so that of s sockets the links carry all but one part in s.
func (p Processor) memory(busy float64, cores int) float64 {
	s := float64(p.sockets(cores))
	all := s * p.GetSocketGbytesPerS()
	if s > 1 {
		all = min(all, p.GetLinkGbytesPerS()*2*s/(s-1)) // each way, to and from every socket
	}
	return 1e9 * min(busy*p.GetCoreGbytesPerS(), all)
}
