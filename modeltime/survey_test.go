package modeltime

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestSurvey: every layer of LeNet that computes has programs forward and, in training, backward. Eight times as many images divide at least as
// evenly, and one core has all the work of every program.
func TestSurvey(t *testing.T) {
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	survey := func(cores, batch int, forwardOnly bool) []Division {
		o := Options{Spec: spec, Batch: batch, State: swnet.MergeState(caffepb.Phase_TRAIN)}
		o.Spec.CoreGroups = cores
		list, err := Survey(model(t, "lenet"), o, forwardOnly)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	worst := func(list []Division, layer string) (most float64, passes map[string]bool) {
		passes = map[string]bool{}
		for _, d := range list {
			if d.Layer == layer {
				most, passes[d.Pass] = max(most, d.Longest), true
			}
			if d.Cores < 1 || d.Runs < 1 || d.Longest < 1 {
				t.Errorf("%+v", d)
			}
		}
		return most, passes
	}
	few, many, inference := survey(64, 8, false), survey(64, 64*64, false), survey(64, 64, true)
	for _, layer := range []string{"conv1", "conv2", "ip1", "ip2"} {
		a, passes := worst(few, layer)
		b, _ := worst(many, layer)
		_, forward := worst(inference, layer)
		if !passes["forward"] || !passes["backward"] || b > a || !forward["forward"] || forward["backward"] {
			t.Errorf("%s: passes %v, in inference %v; longest over mean %v for 8 images, %v for 4096", layer, passes, forward, a, b)
		}
	}
	for _, d := range survey(1, 64, false) {
		if d.Longest != 1 || d.Cores != 1 {
			t.Errorf("one core: %+v", d)
		}
	}
}
