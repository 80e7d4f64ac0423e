package layertest

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
)

// modelled is the machine whose tiles are small enough to meet every edge.
const modelled = "sw26010"

// Bench is the machines that layers are tested on.
type Bench struct {
	Host  *cpe.Machine // this computer
	Model *cpe.Machine // SW26010 with values in its tiles
	Cost  *cpe.Machine // SW26010 that only charges

	cores []*cpe.Machine // this computer with other numbers of cores
}

// NewBench makes the machines; they are closed with the test.
func NewBench(t testing.TB) *Bench {
	t.Helper()
	b := &Bench{
		Host:  machine(t, load(t, "host"), cpe.Native),
		Model: machine(t, load(t, modelled), cpe.Functional),
		Cost:  machine(t, load(t, modelled), cpe.CostOnly),
	}
	for _, n := range []int{1, 3} {
		spec := load(t, "host")
		spec.CoreGroups = n
		b.cores = append(b.cores, machine(t, spec, cpe.Native))
	}
	return b
}

func load(t testing.TB, name string) cpe.Spec {
	t.Helper()
	spec, err := cpe.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func machine(t testing.TB, spec cpe.Spec, mode cpe.Mode) *cpe.Machine {
	t.Helper()
	m, err := cpe.New(spec, mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// seed is where the random numbers of every fixture begin.
const seed = 1701

// device returns a device of its own random sequence.
func device(engine layers.Engine, m *cpe.Machine) *layers.Device {
	return &layers.Device{Engine: engine, Machine: m, Random: layers.NewRandom(seed)}
}

// Device returns a device of the computer with the given path.
func (b *Bench) Device(engine layers.Engine) *layers.Device { return device(engine, b.Host) }
