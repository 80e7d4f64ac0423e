package cpe

import (
	"math"
	"slices"
	"testing"
)

// TestUnitsLongest: the longest core group's part over the mean, of shared and of claimed units.
func TestUnitsLongest(t *testing.T) {
	for _, c := range []struct {
		units  Units
		groups int
		want   float64
	}{
		{Units{N: 64}, 64, 1},
		{Units{N: 65}, 64, 128.0 / 65},
		{Units{N: 16}, 64, 4},
		{Units{N: 7}, 1, 1},
		{Units{}, 8, 1},
		{Units{N: 16, Most: 1}, 8, 1},
		{Units{N: 17, Most: 1}, 8, 24.0 / 17},
		{Units{N: 8, Most: 8}, 2, 1},       // 2, 2, 1, 1, 1, 1
		{Units{N: 7, Most: 8}, 2, 8.0 / 7}, // single units
		{Units{N: 100, Most: 1000}, 1, 1},
	} {
		if got := c.units.Longest(c.groups); got != c.want {
			t.Errorf("%+v on %d core groups: %v, want %v", c.units, c.groups, got, c.want)
		}
	}
}

// dividing adds the units that core groups have to sum, by Share and by Claim.
type dividing struct{ shared, claimed []int }

func (*dividing) Name() string { return "dividing" }

func (d *dividing) RunGroup(g *CoreGroup) error {
	lo, hi := g.Share(len(d.shared))
	for i := lo; i < hi; i++ {
		d.shared[i]++
	}
	for lo, hi := g.Claim(len(d.claimed), 3); lo < hi; lo, hi = g.Claim(len(d.claimed), 3) {
		for i := lo; i < hi; i++ {
			d.claimed[i]++
		}
	}
	return nil
}

// TestSurvey: a surveyed machine hands out no units, and a native one all of them to one core group; both tell how a program divides its work.
func TestSurvey(t *testing.T) {
	spec := load(t, "host")
	spec.CoreGroups = 64
	for _, c := range []struct {
		mode Mode
		runs int
	}{{Surveyed, 0}, {Native, 1}} {
		m, err := New(spec, c.mode)
		if err != nil {
			t.Fatal(err)
		}
		var found []Work
		m.Survey(func(w *Work) {
			one := *w
			one.Units = slices.Clone(w.Units)
			found = append(found, one)
		})
		d := &dividing{make([]int, 80), make([]int, 1000)}
		for _, groups := range []int{0, 3} {
			if err := m.Run(d, groups); err != nil {
				t.Fatal(err)
			}
		}
		m.Survey(nil)
		for _, list := range [][]int{d.shared, d.claimed} {
			for i, n := range list {
				if n != 2*c.runs {
					t.Fatalf("%v: unit %d was computed %d times, want %d", c.mode, i, n, 2*c.runs)
				}
			}
		}
		if len(found) != 2 || found[0].Groups != 64 || found[1].Groups != 3 {
			t.Fatalf("%v: %+v", c.mode, found)
		}
		for _, w := range found {
			if w.Program != "dividing" || !slices.Equal(w.Units, []Units{{80, 0}, {1000, 3}}) || (w.Took == 0) != (c.runs == 0) && c.mode == Native {
				t.Errorf("%v: %+v", c.mode, w)
			}
		}
		// 80 units: two on the first cores, 1.6 times the mean. With fewer core groups than the machine has, the others are idle.
		if got := found[0].Longest(64); got != 1.6 {
			t.Errorf("%v: the longest is %v, want 1.6", c.mode, got)
		}
		if got := found[1].Longest(64); math.Abs(got-21.6) > 1e-9 { // 27 of 80, 64 times
			t.Errorf("%v: on three core groups the longest is %v", c.mode, got)
		}
		m.Close()
	}
}
