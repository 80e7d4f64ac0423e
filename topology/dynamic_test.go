package topology

import (
	"slices"
	"testing"
)

// runDynamic makes n sums on every rank of a local group and returns the algorithm that each rank used at each run, and
// the one it would use next. cost gives a rank's seconds of an algorithm at a run.
func runDynamic(t *testing.T, ranks, n int, cost func(rank, run int, algorithm string) VTime) [][]string {
	t.Helper()
	used := make([][]string, ranks)
	err := NewLocal(ranks).Run(func(tr Transport) error {
		var d *Dynamic
		run, calls, now := 0, 0, VTime(0)
		d = NewDynamic(tr, Flat(ranks), 5, func() VTime {
			if calls++; calls%2 == 0 { // the end of a run
				now += cost(tr.Rank(), run, d.Current())
			}
			return now
		})
		data := make([]float32, 5)
		for run = range n {
			used[tr.Rank()] = append(used[tr.Rank()], d.Current())
			FillProbe(data, tr.Rank())
			if err := d.Run(data); err != nil {
				return err
			}
			if i, want := CheckProbe(data, ranks); i >= 0 {
				t.Errorf("run %d by %s: the sum at %d is %g, want %g", run, used[tr.Rank()][run], i, data[i], want)
			}
		}
		used[tr.Rank()] = append(used[tr.Rank()], d.Current())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for r := range used {
		if !slices.Equal(used[r], used[0]) {
			t.Fatalf("rank %d used %v, rank 0 %v", r, used[r], used[0])
		}
	}
	return used
}

var trial = triesEach * len(algorithms)

// TestDynamicPicks: after a trial of all algorithms the one with the least time summed over ranks stays, though each rank
// finds another one fastest, and though its first run, which warms up, is slow.
func TestDynamicPicks(t *testing.T) {
	used := runDynamic(t, 3, trial, func(rank, run int, algorithm string) VTime {
		at := slices.Index(Fixed(), algorithm)
		switch {
		case run%triesEach == 0:
			return VTime(100 - at)
		case algorithm == "hierarchical":
			return 2
		case at == rank:
			return 1
		}
		return 4
	})[0]
	for i, name := range Fixed() {
		if !slices.Equal(used[i*triesEach:(i+1)*triesEach], []string{name, name, name}) {
			t.Errorf("the trial went %v", used)
		}
	}
	if used[trial] != "hierarchical" {
		t.Errorf("%s was picked", used[trial])
	}
}

// TestDynamicPicksAgain: what is measured changes beyond drift on one rank, and after the stretch all ranks try again and
// pick another algorithm; within drift nothing happens.
func TestDynamicPicksAgain(t *testing.T) {
	run := func(slower VTime) []string {
		return runDynamic(t, 2, 2*trial+2*stretch, func(rank, run int, algorithm string) VTime {
			switch {
			case algorithm == "ring" && run >= trial+stretch && rank == 1:
				return slower
			case algorithm == "ring":
				return 1
			case algorithm == "topology":
				return 2
			}
			return 3
		})[0]
	}
	calm := run(1.5)
	for i := trial; i < len(calm); i++ {
		if calm[i] != "ring" {
			t.Fatalf("with little change run %d was %s", i, calm[i])
		}
	}
	used := run(9)
	for i := trial; i < trial+2*stretch; i++ {
		if used[i] != "ring" {
			t.Errorf("run %d was %s", i, used[i])
		}
	}
	if again := used[trial+2*stretch : 2*trial+2*stretch]; !slices.Equal(again, used[:trial]) {
		t.Errorf("the second trial went %v", again)
	}
	if last := used[len(used)-1]; last != "topology" {
		t.Errorf("%s was picked at last", last)
	}
}

// TestChooseUneven: where supernodes are filled unevenly, too, the choice takes at most an eighth longer than the best one.
func TestChooseUneven(t *testing.T) {
	for _, cluster := range []string{"taihulight", "oceanlight", "tianhe3", "infiniband_fdr"} {
		spec, err := LoadSpec(cluster)
		if err != nil {
			t.Fatal(err)
		}
		for _, ranks := range []int{2, 7, 64, 300, 400, 600, 1000} {
			for _, bytes := range []int{4096, 1 << 20, 100e6} {
				if ranks > spec.Nodes {
					continue
				}
				l := layout(t, spec, ranks, Block)
				chosen := Choose(spec, l, bytes)
				took := simulate(t, spec, l, NewSchedule(chosen, l, bytes/4)).Seconds
				for _, name := range Fixed() {
					if s := simulate(t, spec, l, NewSchedule(name, l, bytes/4)).Seconds; float64(s) < float64(took)/1.125 {
						t.Errorf("%s, %d bytes over %d: %s was chosen with %g s, %s takes %g s", cluster, bytes, ranks, chosen, took, name, s)
					}
				}
			}
		}
	}
}

// TestChoose: small arrays go by messages, large ones by bytes, and the map of supernodes matters.
func TestChoose(t *testing.T) {
	spec, err := LoadSpec("taihulight")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ranks, bytes int
		want         string
	}{
		{512, 4, "recursive_doubling"}, {512, 1 << 20, "hierarchical"}, {256, 1 << 20, "halving_doubling"}, {3, 400 << 20, "ring"},
	} {
		l := layout(t, spec, c.ranks, Block)
		got := Choose(spec, l, c.bytes)
		if got != c.want {
			t.Errorf("%d bytes over %d: %s, want %s", c.bytes, c.ranks, got, c.want)
		}
		least := simulate(t, spec, l, NewSchedule(got, l, c.bytes/4)).Seconds
		for _, name := range Fixed() {
			if s := simulate(t, spec, l, NewSchedule(name, l, c.bytes/4)).Seconds; s < least*0.98 {
				t.Errorf("%d bytes over %d: %s was chosen with %g s, %s takes %g s", c.bytes, c.ranks, got, least, name, s)
			}
		}
	}
}
