package solver

import (
	"fmt"
	"strings"
	"testing"

	swproto "github.com/swcaffe/swcaffe/proto"
)

// TestWhichNets: the solver selects the same training and test nets as Caffe, with the same phases, stages and errors.
func TestWhichNets(t *testing.T) {
	const every = " test_interval: 5 "
	for text, want := range map[string]string{
		`net: "a"`: "TRAIN net file: a",
		`train_net: "a" train_state { stage: "s" }`: "TRAIN train_net file: a s",
		`net_param { }`: "TRAIN net_param",
		`train_net_param { } train_state { stage: "s" }`:         "TRAIN train_net_param s",
		`net: "a" test_iter: 1 test_iter: 2` + every:             "TRAIN net file: a; TEST net file: a; TEST net file: a",
		`net_param { } test_iter: 1` + every:                     "TRAIN net_param; TEST net_param",
		`train_net: "a" test_net: "b" test_iter: 1` + every:      "TRAIN train_net file: a; TEST test_net file: b",
		`train_net: "a" test_net_param { } test_iter: 1` + every: "TRAIN train_net file: a; TEST test_net_param[0]",
		`net_param { } test_net: "b" test_net_param { } test_net_param { } test_iter: 1 test_iter: 1 test_iter: 1 test_iter: 1` + every: "TRAIN net_param; " +
			"TEST test_net_param[0]; TEST test_net_param[1]; TEST test_net file: b; TEST net_param",
		`net: "a" test_iter: 1 test_iter: 2 test_state { stage: "s" } test_state { stage: "t" }` + every: "TRAIN net file: a; TEST net file: a s; TEST net file: a t",
		"":                        "must specify a train net",
		`net: "a" train_net: "b"`: "must not contain more than one",
		`net: "a" net_param { }`:  "must not contain more than one",
		`train_net: "a" test_net: "b" test_net: "c" test_iter: 1` + every: "test_iter must be specified for each test network: 1 values for 2 networks",
		`net: "a" test_net: "b"` + every:                                  "test_iter must be specified for each test network: 0 values for 1 networks",
		`train_net: "a" test_net: "b" test_iter: 1 test_iter: 1` + every:  "test_iter must be specified for each test network: 2 values for 1 networks",
		`train_net: "a" test_iter: 1` + every:                             "test_iter must be specified for each test network: 1 values for 0 networks",
		`net: "a" test_iter: 1`:                                           "test_interval must be positive where there are test nets: it is 0",
		`net: "a" test_iter: 1 test_interval: -1`:                         "test_interval must be positive where there are test nets: it is -1",
		`net: "a" test_iter: 1 test_state { } test_state { }` + every:     "test_state must be unspecified or specified once per test net: 2 values for 1 nets",
	} {
		file := &swproto.Solver{Param: parse(t, text), Path: "s"}
		one, err := trainNet(file)
		var tests []netSource
		if err == nil {
			tests, err = testNets(file)
		}
		var got []string
		for _, n := range append([]netSource{one}, tests...) {
			got = append(got, strings.TrimSpace(fmt.Sprint(n.phase, " ", n, " ", strings.Join(n.state.GetStage(), " "))))
		}
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && strings.Join(got, "; ") != want {
			t.Errorf("%s:\n got %s, error %v\nwant %s", text, strings.Join(got, "; "), err, want)
		}
	}
}
