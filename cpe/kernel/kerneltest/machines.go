package kerneltest

import (
	"slices"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
)

// GroupCounts returns numbers of core groups that must give the same bits: 1, 2 and 5; in short tests 1 and 5.
func GroupCounts() []int {
	if testing.Short() {
		return []int{1, 5}
	}
	return []int{1, 2, 5}
}

// CacheMachines returns host machines of GroupCounts core groups, with L2 caches of the given size.
func CacheMachines(t *testing.T, bytes int) []*cpe.Machine {
	var list []*cpe.Machine
	for _, groups := range GroupCounts() {
		spec := HostMachine(t, groups).Spec()
		spec.LDMBytes = bytes
		m, err := cpe.New(spec, cpe.Native)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		list = append(list, m)
	}
	return list
}

// PartsMachine returns a host machine with a core group for each of parts. A group gets its part of all work.
func PartsMachine(t *testing.T, parts ...float64) *cpe.Machine {
	t.Helper()
	m := NativeMachine(t, HostSpec(t), len(parts))
	if err := m.FixShares(parts); err != nil {
		t.Fatal(err)
	}
	return m
}

// EmptyParts lists parts for PartsMachine: with zeros at the front, at the end and in the middle, and equal parts for more core groups than
// many products have panels.
var EmptyParts = [][]float64{{0, 1}, {1, 0}, {1, 0, 2, 0}, {0, 0, 1, 0, 0, 3, 0, 0}, slices.Repeat([]float64{1}, 16)}

// idling is a program whose last core group is far slower than the others.
type idling struct{ last int }

func (idling) Name() string { return "idling" }

func (p idling) RunGroup(g *cpe.CoreGroup) error {
	g.Share(1000)
	pause := 30 * time.Microsecond
	if g.Index() == p.last {
		pause *= 20
	}
	time.Sleep(pause)
	return nil
}

// HostMachine returns a host machine with the given number of core groups. The last one gets less work than the others.
func HostMachine(t testing.TB, groups int) *cpe.Machine {
	t.Helper()
	return Uneven(t, HostSpec(t), groups)
}

// BenchMachine returns this computer as it is, with the given number of core groups, which share work evenly.
func BenchMachine(b *testing.B, groups int) *cpe.Machine {
	b.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		b.Fatal(err)
	}
	return NativeMachine(b, spec, groups)
}

// HostSpec returns the description of a host of two cores with 32 KB of L1, 1 MB of L2 and 32 MB of L3. Choices of algorithms depend on
// these figures, and tests expect the same choices on every computer.
func HostSpec(t testing.TB) cpe.Spec {
	t.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups, spec.L1Bytes, spec.LDMBytes, spec.L3Bytes = 2, 32<<10, 1<<20, 32<<20
	return spec
}

// NativeMachine makes a host machine from a description.
func NativeMachine(t testing.TB, spec cpe.Spec, groups int) *cpe.Machine {
	t.Helper()
	spec.CoreGroups = groups
	m, err := cpe.New(spec, cpe.Native)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// Uneven makes a host machine whose last core group was measured to be slow.
func Uneven(t testing.TB, spec cpe.Spec, groups int) *cpe.Machine {
	t.Helper()
	m := NativeMachine(t, spec, groups)
	for range 10 {
		if err := m.Run(idling{groups - 1}, 0); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// Rounding returns a machine like m, where factors may be rounded to bfloat16.
func Rounding(t testing.TB, m *cpe.Machine) *cpe.Machine {
	t.Helper()
	spec := m.Spec()
	return Uneven(t, spec.RoundingFactors(), spec.CoreGroups)
}
