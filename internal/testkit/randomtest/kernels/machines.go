package kernels

import (
	"fmt"
	"math"
	"sync"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
)

// machineKey identifies a cached native machine.
type machineKey struct {
	groups, cache int
	rounds        bool
}

// kept caches native machines, because starting the threads of many core groups takes longer than most problems. Machines
// remember strategies, so a machine is replaced after mostUses problems.
var kept = struct {
	sync.Mutex
	machines map[machineKey]*cpe.Machine
	uses     map[machineKey]int
}{machines: map[machineKey]*cpe.Machine{}, uses: map[machineKey]int{}}

const mostUses = 3000

// native returns a machine of this computer with the given core groups and a cache of so many KB; rounds permits factors in bfloat16. With spoils, its scratch is
// filled with NaN. Callers hold kept's lock.
func native(t randomtest.Threads, cache int, rounds, spoils bool) (*cpe.Machine, error) {
	key := machineKey{len(t), cache, rounds}
	if kept.uses[key]++; kept.uses[key] > mostUses {
		kept.machines[key].Close()
		delete(kept.machines, key)
		kept.uses[key] = 1
	}
	m := kept.machines[key]
	if m == nil {
		spec, err := cpe.Load("host")
		if err != nil {
			return nil, err
		}
		spec.CoreGroups = len(t)
		if cache > 0 {
			spec.LDMBytes = cache << 10
		}
		if rounds {
			spec = spec.RoundingFactors()
		}
		if m, err = cpe.New(spec, cpe.Native); err != nil {
			return nil, err
		}
		kept.machines[key] = m
	}
	if err := m.FixShares(t); err != nil {
		return nil, err
	}
	if spoils {
		return m, spoil(m)
	}
	return m, nil
}

// modelled returns a new modelled machine.
func modelled(c *common, mode cpe.Mode) (*cpe.Machine, error) {
	spec, err := cpe.Load(c.Model)
	if err == nil && c.Program != "" {
		spec, err = spec.WithSoftware(c.Program)
	}
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", c.Model, err)
	}
	if c.Cache > 0 {
		spec.LDMBytes = c.Cache << 10
	}
	return cpe.New(spec, mode)
}

// spoiled is the number of scratch values filled with NaN before a kernel runs.
const spoiled = 8 << 10

// spoil fills the beginning of a machine's scratch with NaN, so that no kernel relies on values left there by another.
func spoil(m *cpe.Machine) error {
	spec := m.Spec()
	m.TakeScratch(cpe.Scratch{Common: spoiled, Group: min(spoiled, spec.LDMFloats())})
	return m.Run(spoiler{}, 0)
}

type spoiler struct{}

func (spoiler) Name() string { return "spoiling scratch" }

func (spoiler) RunGroup(g *cpe.CoreGroup) error {
	if g.Index() == 0 {
		fillNaN(g.Common(spoiled))
	}
	fillNaN(g.Memory(min(spoiled, g.Spec().LDMFloats())))
	return nil
}

// fillNaN fills v with NaN, doubling the filled part each time.
func fillNaN(v []float32) {
	if len(v) == 0 {
		return
	}
	v[0] = float32(math.NaN())
	for n := 1; n < len(v); n *= 2 {
		copy(v[n:], v[:n])
	}
}
