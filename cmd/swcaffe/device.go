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
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"google.golang.org/protobuf/proto"
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

// stateFlags are the parts of a net's state that Caffe's commands take.
type stateFlags struct {
	level     int
	stageList string
}

func (s *stateFlags) register(fs *flag.FlagSet) {
	fs.IntVar(&s.level, "level", 0, "the net state's level")
	fs.StringVar(&s.stageList, "stage", "", "the net state's stages, separated by commas")
}

func (s *stateFlags) stages() []string {
	if s.stageList == "" {
		return nil
	}
	return strings.Split(s.stageList, ",")
}

// of is the state of a phase with the flags' level and stages.
func (s *stateFlags) of(phase caffepb.Phase) *caffepb.NetState {
	return &caffepb.NetState{Phase: phase.Enum(), Level: proto.Int32(int32(s.level)), Stage: s.stages()}
}

// over is that state over a net's own.
func (s *stateFlags) over(file *swproto.Net, phase caffepb.Phase) *caffepb.NetState {
	return swnet.MergeState(phase, file.Param.State, s.of(phase))
}

// readNet reads the net of a -model flag.
func readNet(e *env, path string) (*swproto.Net, error) {
	file, err := swproto.ReadNet(path)
	if err != nil {
		return nil, err
	}
	for _, w := range file.Warnings {
		e.log.Warn(w)
	}
	return file, nil
}

// trained says which net is used for inference, in phase TEST, with the weights of a -weights flag.
type trained struct {
	device         *deviceFlags
	state          stateFlags
	model, weights string
	seed           uint64
	share          layers.Share // of the data
}

// use builds the net and has it used.
func (t *trained) use(e *env, use func(*swnet.Net) error) error {
	machine, err := t.device.machine(e)
	if err != nil {
		return err
	}
	defer machine.Close()
	file, err := readNet(e, t.model)
	if err != nil {
		return err
	}
	device := &layers.Device{Engine: t.device.engine, Machine: machine, Random: layers.NewRandom(t.seed), Share: t.share, Log: e.log}
	n, err := buildFile(file, caffepb.Phase_TEST, &t.state, swnet.Options{Device: device, Economise: true, ForwardOnly: true})
	if err != nil {
		return err
	}
	defer n.Close()
	if err := solver.LoadWeights(n, t.weights, e.log); err != nil {
		return err
	}
	return use(n)
}

// buildFile builds a net for a phase, with the level and stages of the flags over those of the file.
func buildFile(file *swproto.Net, phase caffepb.Phase, s *stateFlags, opt swnet.Options) (*swnet.Net, error) {
	opt.State, opt.Pos = s.over(file, phase), file.LayerPos
	return swnet.New(file.Param, opt)
}

func parsePhase(s string) (caffepb.Phase, error) {
	switch s {
	case "TRAIN":
		return caffepb.Phase_TRAIN, nil
	case "TEST":
		return caffepb.Phase_TEST, nil
	}
	return 0, fmt.Errorf("-phase %q: must be TRAIN or TEST", s)
}
