package main

import (
	"flag"
	"fmt"
	"runtime"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd/isa"
)

var deviceQueryCommand = command{
	name:    "device_query",
	summary: "show the machine that layers run on, and the machines there are",
	args:    "[-machine NAME|FILE]",
	example: "swcaffe device_query -machine sw26010",
	long:    "Prints a machine's figures: core groups, mesh, LDM, clock. Without -machine it shows the host and lists the others.",
	do:      with(queryFlags, deviceQuery),
}

func queryFlags(fs *flag.FlagSet, o *queryOptions) {
	fs.StringVar(&o.machine, "machine", "host", "host, a machine's name or a machine `FILE`")
	fs.StringVar(&o.gpu, "gpu", "", "refused: there is no GPU in this build")
}

type queryOptions struct {
	machine, gpu string
}

func deviceQuery(e *env, o *queryOptions) error {
	if o.gpu != "" {
		return fmt.Errorf("-gpu %s: there is no GPU in this build to ask about; leave the flag out", o.gpu)
	}
	spec, err := cpe.Load(o.machine)
	if err != nil {
		return fmt.Errorf("-machine: %w", err)
	}
	fmt.Fprintf(e.stdout, "%s", spec.Describe())
	fmt.Fprintf(e.stdout, "SIMD:                 %s\nGOMAXPROCS:           %d\n", isa.Name(), runtime.GOMAXPROCS(0))
	fmt.Fprintf(e.stdout, "Machines:             %s\n", strings.Join(cpe.Names(), ", "))
	return nil
}
