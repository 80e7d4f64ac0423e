package cpe

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestParameters: every parameter of every machine that has it reads back what was set, and changes nothing of the original.
func TestParameters(t *testing.T) {
	if !slices.IsSorted(ParameterNames()) {
		t.Errorf("not in alphabetical order: %v", ParameterNames())
	}
	for _, machine := range Names() {
		if machine == "host" {
			continue
		}
		s := load(t, machine)
		for _, p := range Parameters() {
			before := p.Of(s)
			if before == 0 || s.CPEs() == 1 && strings.HasPrefix(p.Name, "mesh_") {
				continue
			}
			if err := p.Check(s, 2*before); err != nil {
				t.Errorf("%s on %s: %v", p.Name, machine, err)
				continue
			}
			if got := p.Of(p.With(s, 2*before)); math.Abs(got-2*before) > 1e-9*before {
				t.Errorf("%s on %s: set to %g, reads %g", p.Name, machine, 2*before, got)
			}
			if after := p.Of(s); after != before {
				t.Errorf("%s on %s: the original has become %g", p.Name, machine, after)
			}
		}
	}
}

func TestParameterErrors(t *testing.T) {
	cases := []struct {
		machine, name string
		value         float64
		want          string
	}{
		{"sw26010", "ldm_kb", -1, "ldm_kb=-1: must be positive"},
		{"sw26010", "ldm_kb", math.NaN(), "ldm_kb=NaN: must be positive"},
		{"sw26010", "clock_ghz", math.Inf(1), "clock_ghz=+Inf: must be positive"},
		{"sw26010", "ldm_kb", 1e300, "ldm_kb=1e+300: must be at most 1e+12"},
		{"sw26010", "core_groups", 1.5, "core_groups=1.5: must be a whole number"},
		{"sw26010", "mesh_rows", 1e6, "are too many"},
		{"sw26010", "memory_gbytes_per_s", 100, `memory_gbytes_per_s: machine "sw26010" has none`},
		{"knl7250", "bus_gbytes_per_s", 100, `bus_gbytes_per_s: machine "knl7250" has none`},
		{"knl7250", "mesh_cols", 2, "bus.word_bytes must be positive"},
		{"host", "ldm_kb", 64, "is this computer"},
	}
	for _, c := range cases {
		p, err := FindParameter(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(load(t, c.machine), c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%g on %s: error %v, want %q", c.name, c.value, c.machine, err, c.want)
		}
	}
	_, err := FindParameter("ldm_k")
	if err == nil || !strings.Contains(err.Error(), `did you mean "ldm_kb"? (parameters: bus_gbytes_per_s, clock_ghz`) {
		t.Errorf("error %v, want a suggestion and the list", err)
	}
}
