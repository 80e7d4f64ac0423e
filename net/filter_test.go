package net

import (
	"errors"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestMeetsRule tests each field of a rule alone and together with others.
func TestMeetsRule(t *testing.T) {
	state := MergeState(caffepb.Phase_TEST, parse(t, `state { level: 2 stage: "val" stage: "deep" }`).State)
	tests := []struct {
		rule string
		want bool
	}{
		{``, true},
		{`phase: TEST`, true},
		{`phase: TRAIN`, false},
		{`min_level: 2`, true},
		{`min_level: 3`, false},
		{`max_level: 2`, true},
		{`max_level: 1`, false},
		{`min_level: 1 max_level: 3`, true},
		{`stage: "val"`, true},
		{`stage: "val" stage: "deep"`, true},
		{`stage: "val" stage: "wide"`, false},
		{`not_stage: "wide"`, true},
		{`not_stage: "val"`, false},
		{`not_stage: "wide" not_stage: "deep"`, false},
		{`phase: TEST min_level: 2 stage: "val" not_stage: "wide"`, true},
		{`phase: TEST min_level: 3 stage: "val" not_stage: "wide"`, false},
	}
	for _, test := range tests {
		p := parse(t, `layer { include { `+test.rule+` } }`)
		if got := meetsRule(state, p.Layer[0].Include[0]); got != test.want {
			t.Errorf("rule {%s}: %v, want %v", test.rule, got, test.want)
		}
	}
}

func TestFilterKeepsOneRuleMet(t *testing.T) {
	p := parse(t, `
		layer { name: "always" }
		layer { name: "train" include { phase: TRAIN } }
		layer { name: "test" include { phase: TEST } }
		layer { name: "either" include { phase: TRAIN stage: "x" } include { phase: TEST } }
		layer { name: "not-test" exclude { phase: TEST } }
		layer { name: "not-x" exclude { stage: "x" } }`)
	tests := []struct {
		state  *caffepb.NetState
		want   string
		origin []int
	}{
		{MergeState(caffepb.Phase_TRAIN), "always train not-test not-x", []int{0, 1, 4, 5}},
		{MergeState(caffepb.Phase_TEST), "always test either not-x", []int{0, 2, 3, 5}},
		{MergeState(caffepb.Phase_TRAIN, &caffepb.NetState{Stage: []string{"x"}}), "always train either not-test", []int{0, 1, 3, 4}},
	}
	for _, test := range tests {
		out, origin, err := Filter(p, test.state)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range out.Layer {
			names = append(names, l.GetName())
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%v: kept %q, want %q", test.state, got, test.want)
		}
		for i := range origin {
			if origin[i] != test.origin[i] {
				t.Errorf("%v: origins %v, want %v", test.state, origin, test.origin)
				break
			}
		}
	}
}

func TestFilterRefusesBothKindsOfRules(t *testing.T) {
	p := parse(t, `layer { name: "a" } layer { name: "b" include { phase: TRAIN } exclude { stage: "x" } }`)
	_, _, err := Filter(p, MergeState(caffepb.Phase_TRAIN))
	var le *LayerError
	if !errors.As(err, &le) || le.Layer != "b" || le.Index != 1 {
		t.Fatalf("error %v does not name layer 1, b", err)
	}
}
