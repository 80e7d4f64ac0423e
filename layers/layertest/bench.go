package layertest

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
)

// modelled is the machine with tiles so small that tests reach every edge case of tiling.
const modelled = "sw26010"

// Bench holds the machines that layers are tested on.
type Bench struct {
	Host  *cpe.Machine // this computer
	Model *cpe.Machine // an SW26010 that computes values
	Cost  *cpe.Machine // an SW26010 that counts cost only

	cores []*cpe.Machine // this computer with other numbers of cores
}

// NewBench makes the machines. They are closed at the end of the test.
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

// seed is the random seed of every fixture.
const seed = 1701

// device returns a device with its own random generator.
func device(engine layers.Engine, m *cpe.Machine) *layers.Device {
	return &layers.Device{Engine: engine, Machine: m, Random: layers.NewRandom(seed)}
}

// Device returns a device of this computer with the given path.
func (b *Bench) Device(engine layers.Engine) *layers.Device { return device(engine, b.Host) }
