package modeltime

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestProcessors: every figure of a processor's file has a source beside it that the file lists, or is assumed.
func TestProcessors(t *testing.T) {
	figure, source := regexp.MustCompile(`^\w+: [0-9.]+ *(#.*)?$`), regexp.MustCompile(`\[([A-Z0-9]+)\]`)
	for _, name := range Processors() {
		p, err := LoadProcessor(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.GetName() != name {
			t.Errorf("%s: the name is %q", name, p.GetName())
		}
		text, err := processors.ReadFile("processors/" + name + ".prototxt")
		if err != nil {
			t.Fatal(err)
		}
		figures := 0
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "#") || !figure.MatchString(strings.TrimSpace(line)) {
				continue
			}
			figures++
			_, why, _ := strings.Cut(line, "#")
			for _, s := range source.FindAllStringSubmatch(why, -1) {
				if !strings.Contains(string(text), "#   ["+s[1]+"]") {
					t.Errorf("%s: %s is not among the sources: %s", name, s[0], line)
				}
			}
			if !strings.Contains(why, "assumed: ") && !strings.Contains(why, "assumed\n") && !source.MatchString(why) {
				t.Errorf("%s: no source: %s", name, line)
			}
		}
		if figures < 11 {
			t.Errorf("%s: %d figures", name, figures)
		}
	}
}

// TestCores: on one core nothing waits. With a large batch, all cores of a processor are faster than eight, and eight than one, by no more than their
// number; the whole lies in its range, and the parts make up the whole. Two runs are equal.
func TestCores(t *testing.T) {
	host, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Spec: host, Batch: 4096, State: swnet.MergeState(caffepb.Phase_TRAIN)}
	for _, name := range Processors() {
		p, err := LoadProcessor(name)
		if err != nil {
			t.Fatal(err)
		}
		run := func(cores int, inference bool) *CoresTime {
			one, err := Cores(model(t, "lenet"), o, p, cores, inference)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Cores(model(t, "lenet"), o, p, cores, inference)
			if err != nil || !reflect.DeepEqual(one, again) {
				t.Errorf("%s, %d cores: a second run differs, %v", name, cores, err)
			}
			sum := 0.0
			for _, pass := range one.Passes {
				sum += pass.Share
				if pass.Ms <= 0 || pass.Idle < 0 || pass.Idle > 1 || pass.Operations <= 0 || pass.Bound == "" {
					t.Errorf("%s, %d cores: %+v", name, cores, pass)
				}
			}
			bounds := 0.0
			for _, b := range one.Bounds {
				bounds += b
			}
			if d := sum - 1; d > 1e-9 || d < -1e-9 || bounds < 1-1e-9 || bounds > 1+1e-9 {
				t.Errorf("%s, %d cores: the passes are %v of the time, the bounds %v", name, cores, sum, bounds)
			}
			if !(one.MsRange.Low < one.Ms && one.Ms < one.MsRange.High) {
				t.Errorf("%s, %d cores: %v ms is not in %v", name, cores, one.Ms, one.MsRange)
			}
			return one
		}
		single, few, all := run(1, false), run(8, false), run(p.most(), false)
		if single.Idle != 0 || single.Alone != 0 {
			t.Errorf("%s: one core waits: %v, %v", name, single.Idle, single.Alone)
		}
		if few.Ms >= single.Ms || few.Ms < single.Ms/8 || all.Ms >= few.Ms || all.Ms < single.Ms/float64(p.most()) {
			t.Errorf("%s: 1 core %v ms, 8 cores %v ms, all %v ms", name, single.Ms, few.Ms, all.Ms)
		}
		inference := run(8, true)
		if inference.Ms >= few.Ms || inference.Passes[len(inference.Passes)-1].Pass == "update" {
			t.Errorf("%s: inference takes %v ms, training %v ms", name, inference.Ms, few.Ms)
		}
	}
}

// TestCoresMemory: of two sockets a link carries half of what both read, and one core reads no faster than it can.
func TestCoresMemory(t *testing.T) {
	p, err := LoadProcessor("xeon8480")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		busy  float64
		cores int
		want  float64
	}{{1, 56, 12e9}, {56, 56, 245e9}, {112, 112, 460e9}} {
		if got := p.memory(c.busy, c.cores); got != c.want {
			t.Errorf("%v busy ones of %d cores read %v bytes a second, want %v", c.busy, c.cores, got, c.want)
		}
	}
}
