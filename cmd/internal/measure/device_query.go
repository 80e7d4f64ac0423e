package measure

import (
	"flag"
	"fmt"
	"runtime"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/internal/app/modelplot"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// DeviceQuery is the command device_query.
var DeviceQuery = cli.Command{
	Name:     "device_query",
	Prints:   true,
	Synopsis: "show the machine that layers run on, and the machines there are",
	Args:     "[-machine NAME|FILE] [-json FILE | -draw FILE]",
	Example:  "swcaffe device_query -machine sw26010",
	Help:     "Prints a machine's figures: core groups, mesh, LDM, clock. Without -machine it shows the host and lists the others.",
	Do:       cli.With(queryFlags, deviceQuery),
}

func queryFlags(fs *flag.FlagSet, o *queryOptions) {
	cli.StringVar(fs, &o.machine, "machine", "host", "host, a machine's name or a machine `FILE`", cli.OneOf(cpe.Names()...).OrFiles(cli.Prototxt))
	cli.OutputVar(fs, &o.json, "json", "write the figures to `FILE` as well (docs/json.md); -: to standard output, alone")
	cli.OutputVar(fs, &o.picture, "draw", "modelled machines with a mesh: draw a core group with its figures to `FILE`, .svg or .png, and print nothing")
	fs.StringVar(&o.gpu, "gpu", "", "refused: there is no GPU in this build")
}

type queryOptions struct {
	machine, gpu, json, picture string
}

// deviceReport is the file of -json. A figure that is 0 is not known of the machine.
type deviceReport struct {
	Machine       string   `json:"machine"`
	Description   string   `json:"description"`
	CoreGroups    int      `json:"core_groups"`
	Rows          int      `json:"rows"`
	Cols          int      `json:"cols"`
	LDMBytes      int      `json:"ldm_bytes"`
	ClockGHz      float64  `json:"clock_ghz"`
	PeakGFlops    float64  `json:"peak_gflops"`
	DMALatencyNs  float64  `json:"dma_latency_ns"`
	DMAGBps       float64  `json:"dma_gb_per_s"`
	BroadcastGBps float64  `json:"broadcast_gb_per_s"`
	MemoryBytes   int64    `json:"memory_bytes"`
	SIMD          string   `json:"simd"`
	GOMAXPROCS    int      `json:"gomaxprocs"`
	Machines      []string `json:"machines"`
}

func deviceQuery(e *cli.Env, o *queryOptions) error {
	if o.gpu != "" {
		return cli.Usagef("-gpu %s: there is no GPU in this build to ask about; leave the flag out", o.gpu)
	}
	if o.json != "" && o.picture != "" {
		return cli.Usagef("-draw draws in the place of figures; leave -json out")
	}
	spec, err := cpe.Load(o.machine)
	if err != nil {
		return cli.FlagError("machine", err)
	}
	if o.picture != "" {
		return drawGroup(e, o.picture, spec)
	}
	fmt.Fprintf(e.Tables, "%s", spec.Describe())
	fmt.Fprintf(e.Tables, "SIMD:                 %s\nGOMAXPROCS:           %d\n", isa.Name(), runtime.GOMAXPROCS(0))
	fmt.Fprintf(e.Tables, "Machines:             %s\n", strings.Join(cpe.Names(), ", "))
	return e.WriteJSON(o.json, reportDevice(&spec))
}

func reportDevice(s *cpe.Spec) deviceReport {
	r := deviceReport{
		Machine: s.Name, Description: s.Description, CoreGroups: s.CoreGroups, Rows: s.Rows, Cols: s.Cols, LDMBytes: s.LDMBytes, ClockGHz: s.ClockGHz,
		DMALatencyNs: s.DMA.LatencyNs, BroadcastGBps: s.Bus.BroadcastGBps, MemoryBytes: s.TotalMemoryBytes(),
		SIMD: isa.Name(), GOMAXPROCS: runtime.GOMAXPROCS(0), Machines: cpe.Names(),
	}
	if s.ClockGHz > 0 {
		r.PeakGFlops = s.PeakGFlops()
	}
	if s.DMA.LatencyNs > 0 {
		r.DMAGBps = s.DMA.Peak()
	}
	return r
}

// drawGroup draws a core group of a machine to a file.
func drawGroup(e *cli.Env, file string, spec cpe.Spec) error {
	format, err := figure.Format(file)
	if err != nil {
		return cli.Usagef("-draw %w", err)
	}
	picture, err := modelplot.Group(spec, format)
	if err != nil {
		return cli.Usagef("-draw: %w", err)
	}
	return e.WriteFile(file, picture)
}
