package cpe

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func load(t testing.TB, name string) Spec {
	t.Helper()
	s, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryMachineLoads(t *testing.T) {
	for _, name := range Names() {
		s := load(t, name)
		if s.Name != name {
			t.Errorf("the machine in %s.prototxt is called %q", name, s.Name)
		}
		m, err := New(s, DefaultMode(s))
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
	}
}

// TestSW26010 holds the figures of FACTS that follow from others: 64 CPEs x 8 flops x 1.45 GHz.
func TestSW26010(t *testing.T) {
	s := load(t, "sw26010")
	if p := s.PeakGFlops(); math.Abs(p-742.4) > 1e-9 {
		t.Errorf("peak %g GFLOP/s, want 742.4", p)
	}
	if s.CPEs() != 64 || s.CoreGroups != 4 || s.LDMBytes != 64<<10 {
		t.Errorf("%v", s)
	}
}

// machineFile writes a machine's text with one change.
func machineFile(t *testing.T, old, new string) string {
	t.Helper()
	text, err := machines.ReadFile("machines/sw26010.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("sw26010.prototxt has no %q", old)
	}
	file := filepath.Join(t.TempDir(), "mine.prototxt")
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestLoadErrors: a figure that cannot be is named with its file, its line and its field.
func TestLoadErrors(t *testing.T) {
	cases := []struct{ old, new, want string }{
		{"ldm_bytes: 65536", "ldm_bytes: 0", `mine.prototxt:14: machine "sw26010": ldm_bytes must be positive, it is 0`},
		{"clock_ghz: 1.45", "clock_ghz: -1", `mine.prototxt:11: machine "sw26010": clock_ghz must be positive, it is -1`},
		{"clock_ghz: 1.45", "clock_ghz: inf", `mine.prototxt:11: machine "sw26010": clock_ghz must be a finite number, it is +Inf`},
		{"clock_ghz: 1.45", "clock_ghz: fast", `mine.prototxt:11:12: field "clock_ghz": "fast" is not a number`},
		{"mesh_rows: 8", "mesh_row: 8", `mine.prototxt:9:1: unknown field "mesh_row" of Machine, did you mean "mesh_rows"?`},
		{"mesh_rows: 8", "mesh_rows: 80000", `mine.prototxt:8: machine "sw26010": core_groups 4 of 80000 x 8 CPEs are too many: at most 65536 CPEs`},
		{"clock_ghz: 1.45", "clock_ghz: 1e-300", `mine.prototxt:11: machine "sw26010": clock_ghz must be at least 1e-06, it is 1e-300`},
		{"special_cycles: 20", "special_cycles: 1e30", `mine.prototxt:13: machine "sw26010": special_cycles must be at most 1e+06, it is 1e+30`},
		{"end_cycles: 75", "end_cycles: nan", `machine "sw26010": pipe.original.single.end_cycles must be a finite number, it is NaN`},
		{`point_name: "swcaffe"`, `point_name: "swcaffe" use: "swdn"`, `machine "sw26010": unknown curve "swdn", did you mean "swdnn"? (curves: swcaffe, swdnn, swgemm)`},
		{"special_cycles: 20", "special_cycles: inf", `mine.prototxt:13: machine "sw26010": special_cycles must be a finite number, it is +Inf`},
		{"block_bytes: 8 get_gbytes_per_s: 0.87", "block_bytes: 8 get_gbytes_per_s: nan", "dma.point[1] has cpes 1, block_bytes 8, get_gbytes_per_s NaN, put_gbytes_per_s 0.87: all must be positive, and rates finite"},
		{"block_bytes: 8 get_gbytes_per_s: 0.87", "block_bytes: 8 get_gbytes_per_s: inf", "dma.point[1] has cpes 1, block_bytes 8, get_gbytes_per_s +Inf"},
		{"block_bytes: 8 get_gbytes_per_s: 0.87", "block_bytes: 8 get_gbytes_per_s: 1e-30", "dma.point[1] has cpes 1, block_bytes 8, get_gbytes_per_s 1e-30"},
		{"special_cycles: 20", "special_cycles: -2", `mine.prototxt:13: machine "sw26010": special_cycles must not be negative, it is -2`},
		{"fifo_depth: 4", "fifo_depth: 0", `bus.fifo_depth must be positive, it is 0`},
		{"fifo_depth: 4", "", `mine.prototxt:38: machine "sw26010": bus.fifo_depth must be positive, it is 0`},
		{"block_rows: 4", "block_rows: 0", `pipe with step_cycles 16, block_rows 0, block_cols 16: all must be positive`},
		{"single: CONVERTED", "single: DOUBLED", `mine.prototxt:32:11: in pipe: field "single": "DOUBLED" is not a value`},
		{"block_bytes: 8 get_gbytes_per_s: 0.87", "block_bytes: 8 get_gbytes_per_s: 0", "dma.point[1] has cpes 1, block_bytes 8, get_gbytes_per_s 0"},
		{"block_bytes: 8 ", "block_bytes: 4 ", `mine.prototxt:56: machine "sw26010": dma.point[1] with cpes 1, block_bytes 4 stands twice`},
		{"\ndma {", "\nmemory { gbytes_per_s: 0 }\ndma {", `mine.prototxt:46: machine "sw26010": memory.gbytes_per_s must be positive, it is 0`},
	}
	for _, c := range cases {
		_, err := Load(machineFile(t, c.old, c.new))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", c.new, err, c.want)
		}
	}
	_, err := Load("sw26100")
	if err == nil || !strings.Contains(err.Error(), "host, k40m, knl7250, mt2000plus, mt3000, sw26010") {
		t.Errorf("an unknown machine gives %v, want the known ones", err)
	}
}

// TestNativeMachinesHaveNoDMA: a native machine computes in main memory, all others on copies in LDM; a file that says both is refused.
func TestNativeMachinesHaveNoDMA(t *testing.T) {
	for _, name := range Names() {
		if s := load(t, name); s.HasDMA() == s.Native() {
			t.Errorf("%s: native %t, DMA %t", name, s.Native(), s.HasDMA())
		}
	}
	text, err := machines.ReadFile("machines/host.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "both.prototxt")
	text = append(text, "dma { point { cpes: 1 block_bytes: 8 get_gbytes_per_s: 1 put_gbytes_per_s: 1 } }\n"...)
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), `both.prototxt:14: machine "host": dma.point stands in the file of a native machine`) {
		t.Errorf("error %v", err)
	}
}

// TestLoadChangesOneFigure: a user copies a machine file and changes a figure.
func TestLoadChangesOneFigure(t *testing.T) {
	if s := load(t, machineFile(t, "ldm_bytes: 65536", "ldm_bytes: 262144")); s.LDMBytes != 256<<10 {
		t.Errorf("LDM %d bytes", s.LDMBytes)
	}
}

func TestModes(t *testing.T) {
	if _, err := New(load(t, "sw26010"), Native); err == nil {
		t.Error("the SW26010 runs natively")
	}
	if _, err := New(load(t, "host"), Functional); err == nil {
		t.Error("the host runs as a model")
	}
}

// TestBandwidth reads back the measured points of swCaffe's figure 2 and checks what lies between and outside them.
func TestBandwidth(t *testing.T) {
	d := load(t, "sw26010").DMA
	cases := []struct {
		cpes, block int
		put         bool
		lo, hi      float64
	}{
		{64, 256, false, 26.12, 26.12},
		{64, 32, true, 1.73, 1.73},
		{1, 128, false, 9.3, 9.3},
		{64, 1 << 20, false, 25.93, 25.93},
		{64, 2, false, 0.3, 0.3},
		{64, 96, false, 7.17, 13.91},
		{8, 1024, false, 9.58, 26.21},
	}
	for _, c := range cases {
		if b := d.strided.at(c.cpes, c.block, c.put); b < c.lo-1e-9 || b > c.hi+1e-9 {
			t.Errorf("%d CPEs, %d bytes, put %v: %g GB/s, want %g to %g", c.cpes, c.block, c.put, b, c.lo, c.hi)
		}
	}
}

// TestWaste: blocks of whole transactions, and of parts that divide one, waste nothing; others touch more transactions than
// they fill.
func TestWaste(t *testing.T) {
	d := load(t, "sw26010").DMA
	for block, want := range map[int]float64{
		128: 1, 512: 1, 64: 1, 4: 1,
		96:  1.5,                 // starts at 0, 96, 64, 32: 1, 2, 2, 1 transactions
		192: (1 + 128.0/128) / 2, // starts at 0, 64: 2 and 2 transactions
		160: (1 + 128.0/128) / 2, // starts at 0, 32, 64, 96: 2 each
	} {
		if w := d.waste(block); math.Abs(w-want) > 1e-12 {
			t.Errorf("blocks of %d bytes take %g times as long, want %g", block, w, want)
		}
	}
}

// program is a Program from a function.
type program func(g *CoreGroup) error

func (program) Name() string                  { return "test" }
func (p program) RunGroup(g *CoreGroup) error { return p(g) }

func modelled(t *testing.T) *Machine {
	t.Helper()
	m, err := New(load(t, "sw26010"), Functional)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// started makes a modelled machine whose threads run already, so that a program costs only its own steps.
func started(t *testing.T) *Machine {
	t.Helper()
	s := load(t, "sw26010")
	s.MPE.StartUs = 0
	m, err := New(s, Functional)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// TestBusesAreQueues: messages arrive in the order in which they were sent, along rows and columns apart.
func TestBusesAreQueues(t *testing.T) {
	err := modelled(t).Run(program(func(g *CoreGroup) error {
		var parts [3]Part
		g.at(2, 0).alongRow(&parts[0])
		g.at(2, 1).alongRow(&parts[1])
		g.at(7, 5).alongCol(&parts[2])
		c := g.at(2, 5)
		for i, got := range []*Part{c.fromRow.pop(), c.fromCol.pop(), c.fromRow.pop(), c.fromRow.pop()} {
			if want := []*Part{&parts[0], &parts[2], &parts[1], nil}[i]; got != want {
				t.Errorf("message %d is %p, want %p", i, got, want)
			}
		}
		return nil
	}), 1)
	if err != nil {
		t.Error(err)
	}
}

// TestExchange: every CPE receives the parts of its row and column; a message that came before them is not taken for one, and a
// part that is sent twice is left over.
func TestExchange(t *testing.T) {
	a, b := &Tile{RowParts: 8, ColParts: 8}, &Tile{RowParts: 8, ColParts: 8}
	cases := map[string]func(g *CoreGroup){
		"": func(*CoreGroup) {},
		"CPE (3,5) receives a part along its row that is not the operand of its product":         func(g *CoreGroup) { g.at(3, 5).fromRow.push(&Part{}) },
		"CPE (6,2) receives a part along its column that is not the operand of its product":      func(g *CoreGroup) { g.at(6, 2).fromCol.push(&Part{}) },
		"CPE (0,0) would wait for ever: 1 messages of 48 bytes along its row are never received": func(g *CoreGroup) { g.rowBroadcast(a, 2) },
	}
	for want, before := range cases {
		err := modelled(t).Run(program(func(g *CoreGroup) error {
			for _, tile := range []*Tile{a, b} {
				tile.parts = make([]Part, 64)
				tile.cut(16, 24)
			}
			for step := range 8 {
				if err := g.Exchange("k", a, b, step); err != nil {
					return err
				}
			}
			before(g)
			return g.Exchange("k", a, b, 2)
		}), 1)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestDeadlock(t *testing.T) {
	cases := map[string]func(g *CoreGroup) error{
		"kernel k: CPE (3,4) would wait for ever: it receives along its row, where nobody sends": func(g *CoreGroup) error {
			return g.at(3, 4).expect("k", &Part{}, &g.at(3, 4).fromRow, 4, 0, "row")
		},
		"kernel k: CPE (1,6) would wait for ever: 1 messages of 8 bytes along its column are never received": func(g *CoreGroup) error {
			g.at(1, 6).fromCol.push(&Part{Rows: 1, Cols: 1})
			return g.endExchange("k")
		},
	}
	for want, f := range cases {
		err := modelled(t).Run(program(f), 1)
		var dead *DeadlockError
		if !errors.As(err, &dead) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want a DeadlockError: %s", err, want)
		}
	}
}

func TestLDMOverflow(t *testing.T) {
	m := modelled(t)
	err := m.Run(program(func(g *CoreGroup) error {
		c := g.CPEs()[0]
		if a, err := c.Alloc("k", 10000); err != nil || len(a) != 10000 {
			t.Errorf("%d values, error %v", len(a), err)
		}
		_, err := c.Alloc("k", 6385)
		return err
	}), 1)
	var ldm *LDMError
	if !errors.As(err, &ldm) || ldm.Asked != 65540 || ldm.Have != 65536 || ldm.Kernel != "k" {
		t.Errorf("error %v", err)
	}
	if got := m.Ledger().LDMPeak; got != 40000 {
		t.Errorf("LDM peak %d bytes, want 40000", got)
	}
}

// TestOverlap: double-buffered steps take the longer of a transfer and the work of the step before.
func TestOverlap(t *testing.T) {
	m := started(t)
	run := func(overlap bool) Ledger {
		m.ResetLedger()
		err := m.Run(program(func(g *CoreGroup) error {
			for range 3 {
				g.step.dma, g.step.compute = 10, 4
				if overlap {
					g.Overlap()
				} else {
					g.Sync()
				}
			}
			return nil
		}), 1)
		if err != nil {
			t.Fatal(err)
		}
		return m.Ledger()
	}
	if l := run(false); l.Time != 42 || l.DMA != 30 || l.Compute != 12 {
		t.Errorf("one after the other: %+v", l)
	}
	if l := run(true); l.Time != 34 || l.DMA != 30 || l.Compute != 12 {
		t.Errorf("double-buffered: %+v", l)
	}
}

// TestPutLater: what a step leaves for later is transferred while the step after the next one is fetched, and at the end.
func TestPutLater(t *testing.T) {
	m := started(t)
	err := m.Run(program(func(g *CoreGroup) error {
		for range 3 {
			g.step.dma += 10
			g.step.compute += 4
			g.Overlap()
			g.later.dma += 3
		}
		return nil
	}), 1)
	if err != nil {
		t.Fatal(err)
	}
	// 10 to fetch, 10 beside 4 of work, 10+3 beside 4 of work; then 4 of work and the last two stores, one after the other.
	if l := m.Ledger(); l.Time != 10+10+13+4+3+3 || l.DMA != 39 || l.Compute != 12 {
		t.Errorf("%+v", l)
	}
}

// TestSections: a section that has run with the same transfers outstanding costs the same again, and leaves the same outstanding.
func TestSections(t *testing.T) {
	work := func(g *CoreGroup, key int) func() error {
		return func() error {
			g.step.dma += VTime(7 + key)
			g.step.compute += VTime(5 * key)
			g.Overlap()
			g.later.dma += VTime(2 * key)
			return nil
		}
	}
	keys := []int{1, 1, 2, 1, 1, 1, 2, 2, 2, 1}
	var ledgers [2]Ledger
	for i, mode := range []Mode{Functional, CostOnly} {
		ran := 0
		m, err := New(load(t, "sw39000"), mode)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		err = m.Run(program(func(g *CoreGroup) error {
			for _, key := range keys {
				err := g.Section(key, func() error {
					ran++
					return work(g, key)()
				})
				if err != nil {
					return err
				}
			}
			return nil
		}), 1)
		if err != nil {
			t.Fatal(err)
		}
		if ledgers[i] = m.Ledger(); (ran == len(keys)) != (mode == Functional) {
			t.Errorf("%v: %d of %d sections ran", mode, ran, len(keys))
		}
	}
	if ledgers[0] != ledgers[1] {
		t.Errorf("functional %+v, cost only %+v", ledgers[0], ledgers[1])
	}
}

// TestSlowestGroupCounts: groups work side by side.
func TestSlowestGroupCounts(t *testing.T) {
	m := started(t)
	err := m.Run(program(func(g *CoreGroup) error {
		g.CPEs()[7].Compute(float64(1000*(g.Index()+1)), 0)
		return nil
	}), 0)
	if err != nil {
		t.Fatal(err)
	}
	l, s := m.Ledger(), m.Spec()
	if want := s.cycles(4000 / s.FlopsPerCycle); l.Time != want || l.Compute != want || l.Flops != 1000+2000+3000+4000 {
		t.Errorf("%+v, want a time of %v", l, want)
	}
}

func TestShareCoversAll(t *testing.T) {
	for _, n := range []int{0, 1, 3, 4, 5, 1029} {
		var ranges [3][2]int
		err := modelled(t).Run(program(func(g *CoreGroup) error {
			ranges[g.index][0], ranges[g.index][1] = g.Share(n)
			return nil
		}), 3)
		next := 0
		for i, r := range ranges {
			if r[0] != next || r[1] < r[0] {
				t.Errorf("group %d: %v of %d", i, r, n)
			}
			next = r[1]
		}
		if err != nil || next != n {
			t.Errorf("%d of %d units dealt, error %v", next, n, err)
		}
	}
}

func TestCacheBytes(t *testing.T) {
	for text, want := range map[string]int{"48K": 48 << 10, "32M": 32 << 20, "": 0, "huge": 0, "512": 512} {
		if got := cacheBytes(text); got != want {
			t.Errorf("%q is %d bytes, want %d", text, got, want)
		}
	}
}

// TestCaches: a core's part of an L2 cache of several cores, and of all L3 caches, from files as Linux has them; threads of a core are not cores.
func TestCaches(t *testing.T) {
	given := Spec{L1Bytes: 1, LDMBytes: 2, L3Bytes: 3}
	for _, c := range []struct {
		name       string
		files      []string // level, type, size, processors
		processors int
		want       [3]int // L1, L2, L3
	}{
		{"two cores with an L3", []string{"1 Data 32K 0", "1 Instruction 64K 0", "2 Unified 512K 0", "3 Unified 32768K 0-1"}, 2, [3]int{32 << 10, 512 << 10, 32 << 20}},
		{"an L2 of four cores, no L3", []string{"1 Data 32K 0", "2 Unified 2048K 0-3"}, 64, [3]int{32 << 10, 512 << 10, 0}},
		{"two threads a core, twelve L3", []string{"1 Data 32K 0,96", "2 Unified 1024K 0,96", "3 Unified 32768K 0-7,96-103"}, 192, [3]int{32 << 10, 1 << 20, 384 << 20}},
		{"a mask of nine processors", []string{"1 Data 32K 0", "2 Unified 1024K 0", "3 Unified 16384K 0-7"}, 9, [3]int{32 << 10, 1 << 20, 32 << 20}},
		{"one L2 for all", []string{"1 Data 32K 0", "2 Unified 1024K 0-63"}, 64, [3]int{32 << 10, 128 << 10, 0}},
		{"lists that cannot be read", []string{"1 Data 32K", "2 Unified 1024K x", "3 Unified 16384K 7-0"}, 1, [3]int{32 << 10, 1 << 20, 16 << 20}},
		{"no files", nil, 8, [3]int{1, 2, 3}},
	} {
		dir := t.TempDir()
		for i, text := range c.files {
			index := filepath.Join(dir, fmt.Sprint("index", i))
			if err := os.Mkdir(index, 0o777); err != nil {
				t.Fatal(err)
			}
			for k, word := range strings.Fields(text) {
				if err := os.WriteFile(filepath.Join(index, []string{"level", "type", "size", "shared_cpu_list"}[k]), []byte(word+"\n"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		s := given.withCaches(caches(dir), c.processors)
		if got := [3]int{s.L1Bytes, s.LDMBytes, s.L3Bytes}; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestGroups(t *testing.T) {
	for n, want := range map[int]string{1: "one core group", 2: "2 core groups", 68: "68 core groups"} {
		if got := Groups(n); got != want {
			t.Errorf("%d are %q, want %q", n, got, want)
		}
	}
}
