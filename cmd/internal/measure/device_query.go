package measure

import (
	"flag"
	"fmt"
	"runtime"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/internal/simd/isa"
)

// DeviceQuery is the command device_query.
var DeviceQuery = cli.Command{
	Name:     "device_query",
	Synopsis: "show the machine that layers run on, and the machines there are",
	Args:     "[-machine NAME|FILE]",
	Example:  "swcaffe device_query -machine sw26010",
	Help:     "Prints a machine's figures: core groups, mesh, LDM, clock. Without -machine it shows the host and lists the others.",
	Do:       cli.With(queryFlags, deviceQuery),
}

func queryFlags(fs *flag.FlagSet, o *queryOptions) {
	cli.StringVar(fs, &o.machine, "machine", "host", "host, a machine's name or a machine `FILE`", cli.OneOf(cpe.Names()...).OrFiles(cli.Prototxt))
	fs.StringVar(&o.gpu, "gpu", "", "refused: there is no GPU in this build")
}

type queryOptions struct {
	machine, gpu string
}

func deviceQuery(e *cli.Env, o *queryOptions) error {
	if o.gpu != "" {
		return cli.Usagef("-gpu %s: there is no GPU in this build to ask about; leave the flag out", o.gpu)
	}
	spec, err := cpe.Load(o.machine)
	if err != nil {
		return cli.FlagError("machine", err)
	}
	fmt.Fprintf(e.Stdout, "%s", spec.Describe())
	fmt.Fprintf(e.Stdout, "SIMD:                 %s\nGOMAXPROCS:           %d\n", isa.Name(), runtime.GOMAXPROCS(0))
	fmt.Fprintf(e.Stdout, "Machines:             %s\n", strings.Join(cpe.Names(), ", "))
	return nil
}
