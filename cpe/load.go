package cpe

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/machinepb"
)

//go:embed machines/*.prototxt
var machines embed.FS

// Names returns the names of the built-in machines.
func Names() []string {
	entries, err := machines.ReadDir("machines")
	if err != nil {
		panic("cpe: embedded machines: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".prototxt"))
	}
	slices.Sort(names)
	return names
}

// Load returns a built-in machine by its name, or a machine from the user's prototxt file. Figures that the file of a native machine leaves
// out are detected.
func Load(nameOrFile string) (Spec, error) {
	if known, ok := builtIn.Load(nameOrFile); ok {
		return known.(*description).spec()
	}
	file, text, err := Text(nameOrFile)
	if err != nil {
		return Spec{}, err
	}
	d, err := describe(file, text)
	if err != nil {
		return Spec{}, err
	}
	if file != nameOrFile {
		builtIn.Store(nameOrFile, d)
	}
	return d.spec()
}

// builtIn keeps the descriptions of the built-in machines that were loaded, by name.
var builtIn sync.Map

// description is a machine's text, parsed. It does not change.
type description struct {
	machine *machinepb.Machine
	source  *swproto.Source
}

// describe parses a machine's text.
func describe(file string, text []byte) (*description, error) {
	d := &description{machine: &machinepb.Machine{}}
	var err error
	d.source, err = swproto.UnmarshalText(file, text, d.machine)
	return d, err
}

// Text returns the file of a machine, and its name.
func Text(nameOrFile string) (file string, text []byte, err error) {
	file = "machines/" + nameOrFile + ".prototxt"
	if text, err = machines.ReadFile(file); err != nil {
		file = nameOrFile
		text, err = swproto.ReadFile(file)
	}
	if errors.Is(err, os.ErrNotExist) {
		err = &suggest.UnknownError{Kind: "machine", Kinds: "machines", Name: nameOrFile, Known: Names(), OrFile: true}
	}
	return file, text, err
}

// Parse reads a machine's text. Errors name the file.
func Parse(file string, text []byte) (Spec, error) {
	d, err := describe(file, text)
	if err != nil {
		return Spec{}, err
	}
	return d.spec()
}

// spec returns the machine, with the figures detected that the description leaves out.
func (d *description) spec() (Spec, error) {
	s, source := fromProto(d.machine), d.source
	if s.DMA.use != "" {
		if err := s.DMA.choose(s.DMA.use); err != nil {
			return Spec{}, fmt.Errorf("%s: machine %q: %w", source.Nearest("dma.use"), s.Name, err)
		}
	}
	if s.native {
		s = detectHost(s)
	}
	if err := s.wrong(); err != nil {
		return Spec{}, fmt.Errorf("%s: machine %q: %w", source.Nearest(err.Field), s.Name, err)
	}
	return s, nil
}

func fromProto(m *machinepb.Machine) Spec {
	s := Spec{
		Name: m.GetName(), Description: m.GetDescription(),
		CoreGroups: int(m.GetCoreGroups()), Rows: int(m.GetMeshRows()), Cols: int(m.GetMeshCols()),
		ClockGHz: m.GetClockGhz(), FlopsPerCycle: m.GetFlopsPerCycle(), HalfFlops: m.GetHalfFlopsPerCycle(), SpecialCycles: m.GetSpecialCycles(),
		LDMBytes: int(m.GetLdmBytes()), L1Bytes: int(m.GetL1Bytes()), L3Bytes: int(m.GetL3Bytes()), MemoryBytes: int64(m.GetMemoryBytes()),
		DMA: DMASpec{
			LatencyNs: m.GetDma().GetLatencyNs(), TransactionBytes: int(m.GetDma().GetTransactionBytes()),
			MaxPending: int(m.GetDma().GetMaxPending()), OverlapsBuses: m.GetDma().GetOverlapsBuses(),
			Queued: m.GetDma().GetQueued(), PartialPut: PartialPut{m.GetDma().GetPartialPut().GetOneNs(), m.GetDma().GetPartialPut().GetTwoNs()},
		},
		Pipe: PipeSpec{
			BlockRows: int(m.GetPipe().GetBlockRows()), BlockCols: int(m.GetPipe().GetBlockCols()),
			StepCycles: m.GetPipe().GetStepCycles(), PrologueCycles: m.GetPipe().GetPrologueCycles(), EpilogueCycles: m.GetPipe().GetEpilogueCycles(),
			SyncCycles: m.GetPipe().GetSyncCycles(), BlockCycles: m.GetPipe().GetBlockCycles(), ConvertCycles: m.GetPipe().GetConvertCycles(),
			Single: Single(m.GetPipe().GetSingle()),
			Original: OriginalLoops{
				Single: loopOf(m.GetPipe().GetOriginal().GetSingle()), Double: loopOf(m.GetPipe().GetOriginal().GetDouble()),
				ConvertCycles: m.GetPipe().GetOriginal().GetConvertCycles(),
			},
		},
		Bus: BusSpec{
			WordBytes: int(m.GetBus().GetWordBytes()), FIFODepth: int(m.GetBus().GetFifoDepth()), LatencyCycles: m.GetBus().GetLatencyCycles(),
			P2PGBps: m.GetBus().GetP2PGbytesPerS(), BroadcastGBps: m.GetBus().GetBroadcastGbytesPerS(),
			ValueBytes: int(m.GetBus().GetValueBytes()),
		},
		RMA:    rmaOf(m.GetRma()),
		Memory: MemorySpec{Shared: m.Memory != nil, GBps: m.GetMemory().GetGbytesPerS(), Bytes: int64(m.GetMemory().GetBytes())},
		MPE: MPESpec{
			GFlops: m.GetMpe().GetGflops(), CopyGBps: m.GetMpe().GetCopyGbytesPerS(), CacheBytes: int(m.GetMpe().GetCacheBytes()), StartUs: m.GetMpe().GetStartUs(),
		},
		native: m.GetNative(),
	}
	for i, p := range m.GetDma().GetPoint() {
		s.DMA.strided.add(p, i)
	}
	for i, p := range m.GetDma().GetRequestPoint() {
		s.DMA.single.add(p, i)
	}
	s.DMA.curves = curvesOf(m.GetDma(), s.DMA.strided)
	s.DMA.use = m.GetDma().GetUse()
	return s
}

func rmaOf(r *machinepb.RMA) RMASpec {
	if r == nil {
		return RMASpec{}
	}
	return RMASpec{
		Block: int(r.GetBlock()), NearCycles: r.GetNearCycles(), FarCycles: r.GetFarCycles(), RequestCycles: r.GetRequestCycles(),
		IssueCycles: r.GetIssueCycles(), GapCycles: r.GetGapCycles(), BytesPerCycle: r.GetBytesPerCycle(), MaxPending: int(r.GetMaxPending()),
	}
}

func loopOf(l *machinepb.Pipe_Loop) Loop { return Loop{l.GetEndCycles(), l.GetStepCycles()} }

// curvesOf returns a machine's measurements of strided transfers by name. The first is that of its points.
func curvesOf(m *machinepb.DMA, points surface) []namedSurface {
	if m.GetPointName() == "" {
		return nil
	}
	all := []namedSurface{{m.GetPointName(), points}}
	for _, c := range m.GetCurve() {
		var other surface
		for i, p := range c.GetPoint() {
			other.add(p, i)
		}
		all = append(all, namedSurface{c.GetName(), points.replaced(other)})
	}
	return all
}
