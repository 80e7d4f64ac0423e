package cli

import (
	"cmp"
	"flag"
	"runtime"
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
)

// DeviceFlags are the flags for the device that a net runs on.
type DeviceFlags struct {
	EngineName, MachineName string
	threads                 int
	Seed                    int64
	precision               string
	GPU                     string
	Subject                 string // names the user of the device in messages; "": a net

	Engine layers.Engine
}

// WarnOfGPU warns that subject runs on CPUs although a flag (asks: its name and value) asks for a GPU. The solver warns of
// solver_mode: GPU in the same way.
func WarnOfGPU(e *Env, asks, subject string) {
	e.Log.Warnf("%s: there is no GPU in this build; the %s runs on CPUs", asks, subject)
}

func (d *DeviceFlags) Register(fs *flag.FlagSet) {
	StringVar(fs, &d.EngineName, "engine", "cpe", "the path of every layer: cpe (tiled, fast) or mpe (plain reference)", OneOf("cpe", "mpe"))
	StringVar(fs, &d.MachineName, "machine", "host", "the machine of the cpe path: a machine `FILE`, or "+strings.Join(cpe.Names(), ", "), OneOf(cpe.Names()...).OrFiles(Prototxt))
	StringVar(fs, &d.precision, "precision", "", "what factors of products may be rounded to: fp32 (nothing), bf16 or int8 (in nets that swcaffe quantize has written); sums are in fp32 or exact. Without it: the net's precision, or fp32", OneOf(cpe.Precisions...))
	fs.IntVar(&d.threads, "threads", 0, "the number of cores to use (0: all)")
	fs.Int64Var(&d.Seed, "seed", -1, "random seed where the solver has none (-1: from the clock)")
	fs.StringVar(&d.GPU, "gpu", "", "accepted with a warning: there is no GPU in this build")
}

// NewMachine makes the machine named by the flags.
func (d *DeviceFlags) NewMachine(e *Env) (*cpe.Machine, error) {
	spec, err := d.Spec(e)
	if err != nil {
		return nil, err
	}
	return cpe.New(spec, cpe.DefaultMode(spec))
}

// Spec reads the flags and the machine's description.
func (d *DeviceFlags) Spec(e *Env) (cpe.Spec, error) {
	if d.GPU != "" {
		WarnOfGPU(e, "-gpu "+d.GPU, cmp.Or(d.Subject, "net"))
	}
	var err error
	if d.Engine, err = layers.ParseEngine(d.EngineName); err != nil {
		return cpe.Spec{}, Usagef("-engine: %w", err)
	}
	if err := cpe.CheckCores(d.threads); err != nil {
		return cpe.Spec{}, Usagef("-threads %w", err)
	}
	spec, err := cpe.Load(d.MachineName)
	if err != nil {
		return cpe.Spec{}, FlagError("machine", err)
	}
	if spec.Native() {
		spec.CoreGroups = cmp.Or(d.threads, spec.CoreGroups)
		runtime.GOMAXPROCS(spec.CoreGroups) // under a quota of one core, fewer than Go has by itself
	} else if d.threads > 0 {
		runtime.GOMAXPROCS(d.threads)
	}
	e.Log.Infof("Engine %s on machine %s", d.Engine, spec)
	return d.rounding(spec)
}

// rounding returns the machine with the precision of -precision.
func (d *DeviceFlags) rounding(spec cpe.Spec) (cpe.Spec, error) {
	spec, err := spec.WithPrecision(d.precision)
	switch {
	case err != nil:
		return spec, Usagef("-precision: %w", err)
	case d.precision == "" || d.precision == cpe.FP32:
	case d.Engine == layers.MPE && d.precision == cpe.BF16:
		return spec, Usagef("-precision %s is for -engine cpe: the mpe engine is the reference, in fp32", d.precision)
	case spec.Native():
		return spec, nil
	case d.precision == cpe.BF16:
		half, err := spec.InHalf()
		if err != nil {
			return spec, Usagef("-precision %s: %w", d.precision, err)
		}
		return half.WithPrecision(cpe.FP32)
	default:
		return spec, Usagef("-precision %s is for this computer; -machine %s is modelled in fp32 or bf16", d.precision, d.MachineName)
	}
	return spec, nil
}

func (d *DeviceFlags) SeedOrTime() uint64 {
	if d.Seed >= 0 {
		return uint64(d.Seed)
	}
	return uint64(time.Now().UnixNano())
}
