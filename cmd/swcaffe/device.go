package main

import (
	"cmp"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
)

// deviceFlags say what a net runs on.
type deviceFlags struct {
	engineName, machineName string
	threads                 int
	seed                    int64
	gpu                     string
	subject                 string // what runs on it, for messages; "" for a net

	engine layers.Engine
}

// warnOfGPU says of what asks for a GPU what the solver says of solver_mode: GPU, which asks for the same.
func warnOfGPU(e *env, asks, subject string) {
	e.log.Warnf("%s: there is no GPU in this build; the %s runs on CPUs", asks, subject)
}

func (d *deviceFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&d.engineName, "engine", "cpe", "the path of every layer: cpe (tiled, fast) or mpe (plain reference)")
	fs.StringVar(&d.machineName, "machine", "host", "the machine of the cpe path: a machine `FILE`, or "+strings.Join(cpe.Names(), ", "))
	fs.IntVar(&d.threads, "threads", 0, "the number of cores to use (0: all)")
	fs.Int64Var(&d.seed, "seed", -1, "random seed where the solver has none (-1: from the clock)")
	fs.StringVar(&d.gpu, "gpu", "", "accepted with a warning: there is no GPU in this build")
}

// maxThreads is how many threads may be asked for, whatever the computer has: each is kept busy, and holds memory for its tiles.
const maxThreads = 1024

// machine makes the machine that the flags name.
func (d *deviceFlags) machine(e *env) (*cpe.Machine, error) {
	spec, err := d.spec(e)
	if err != nil {
		return nil, err
	}
	return cpe.New(spec, cpe.DefaultMode(spec))
}

// spec reads the flags and the machine's description.
func (d *deviceFlags) spec(e *env) (cpe.Spec, error) {
	if d.gpu != "" {
		warnOfGPU(e, "-gpu "+d.gpu, cmp.Or(d.subject, "net"))
	}
	var err error
	if d.engine, err = layers.ParseEngine(d.engineName); err != nil {
		return cpe.Spec{}, fmt.Errorf("-engine: %w", err)
	}
	if d.threads < 0 {
		return cpe.Spec{}, fmt.Errorf("-threads %d: the number of cores cannot be negative", d.threads)
	}
	if most := max(maxThreads, runtime.NumCPU()); d.threads > most {
		return cpe.Spec{}, fmt.Errorf("-threads %d: this computer has %d cores; at most %d are accepted", d.threads, runtime.NumCPU(), most)
	}
	if d.threads > 0 {
		runtime.GOMAXPROCS(d.threads)
	}
	spec, err := cpe.Load(d.machineName)
	if err != nil {
		return cpe.Spec{}, fmt.Errorf("-machine: %w", err)
	}
	e.log.Infof("Engine %s on machine %s", d.engine, spec)
	return spec, nil
}

func (d *deviceFlags) seedOrTime() uint64 {
	if d.seed >= 0 {
		return uint64(d.seed)
	}
	return uint64(time.Now().UnixNano())
}
