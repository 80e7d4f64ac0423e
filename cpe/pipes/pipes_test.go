package pipes

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// TestSchedules: every role's words multiply 16 times a step, and load and store 16 registers of C.
func TestSchedules(t *testing.T) {
	for _, product := range []map[Role]schedule{single, double} {
		for _, role := range Roles {
			s := product[role]
			w := writer{}
			w.write(s.before + " " + s.after)
			if w.fmas != 32 || w.loaded != 16 || w.stored != 16 {
				t.Errorf("%+v: %d multiply-adds, %d loads and %d stores of C, want 32, 16 and 16", role, w.fmas, w.loaded, w.stored)
			}
			w = writer{}
			w.write(s.loop)
			if w.fmas != 16 || w.loaded+w.stored != 0 {
				t.Errorf("%+v: %d multiply-adds and %d transfers of C in the loop, want 16 and none", role, w.fmas, w.loaded+w.stored)
			}
		}
	}
}

// TestPublishedLoop: where a CPE receives both operands, and where it owns either, a step in double precision takes the 17 cycles that swDNN
// counts (section VI-A): 16 multiply-adds and the branch. With loads of 4 cycles the owner of B would take 18. The diagonal takes 18, for it
// moves both pointers.
func TestPublishedLoop(t *testing.T) {
	for role, want := range map[Role]int{{}: 17, {A: true}: 17, {B: true}: 17, {A: true, B: true}: 18} {
		if got := double[role].block().Step; got != want {
			t.Errorf("%+v: %d cycles a step, want %d", role, got, want)
		}
	}
}

// TestOwnersStall: in single precision the owner of A loads and puts one register after the other, four times a step, and waits for each load.
func TestOwnersStall(t *testing.T) {
	for role, want := range map[Role]int{{}: 17, {A: true}: 29, {B: true}: 19, {A: true, B: true}: 22} {
		if got := single[role].block().Step; got != want {
			t.Errorf("%+v: %d cycles a step, want %d", role, got, want)
		}
	}
}

// TestMachine: the SW26010's file has the cycles that the listings take.
func TestMachine(t *testing.T) {
	s, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		file  cpe.Loop
		count Block
	}{{"single", s.Pipe.Original.Single, Single()}, {"double", s.Pipe.Original.Double, Double()}} {
		if want := (cpe.Loop{EndCycles: float64(c.count.Ends), StepCycles: float64(c.count.Step)}); c.file != want {
			t.Errorf("%s: the machine's file has %+v, the listing takes %+v", c.name, c.file, want)
		}
	}
}

// TestCycles: instructions issue in order, two a cycle at most, and wait for operands.
func TestCycles(t *testing.T) {
	fma := instruction{unit: p0, latency: fmaLatency, writes: "c", reads: []string{"c"}}
	load := instruction{unit: p1, latency: loadLatency, writes: "a"}
	use := instruction{unit: p1, latency: oneLatency, reads: []string{"a"}}
	jump := instruction{unit: p1, latency: oneLatency, jumps: true}
	for _, c := range []struct {
		name string
		l    Listing
		want int
	}{
		{"beside each other", Listing{fma, load}, 1},
		{"one pipe", Listing{load, load}, 2},
		{"a sum waits for itself", Listing{fma, fma}, 1 + fmaLatency},
		{"a put waits for its load", Listing{load, use}, 1 + loadLatency},
		{"nothing overtakes", Listing{load, use, fma}, 1 + loadLatency},
		{"nothing beside what follows a branch", Listing{jump, fma}, 2},
	} {
		if got := c.l.Cycles(); got != c.want {
			t.Errorf("%s: %d cycles, want %d", c.name, got, c.want)
		}
	}
}
