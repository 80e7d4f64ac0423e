package net

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestDebugInfoOfANet: a net whose own prototxt says debug_info prints the mean magnitudes of what its layers make, those of x = (2, 2),
// y = w*x = 6 and of the gradients dw = 12, of each weight, and dx, which has none. Weights have their names forward, their numbers backward.
func TestDebugInfoOfANet(t *testing.T) {
	p := parse(t, `debug_info: true
		layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 dim: 2 } data_filler { value: 2 } } }
		layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" param { name: "w" } inner_product_param { num_output: 1 bias_term: false weight_filler { value: 1.5 } } }
		layer { name: "l" type: "Power" bottom: "y" top: "l" power_param { power: 2 scale: 0.5 } loss_weight: 2 }`)
	d := device(t)
	var text bytes.Buffer
	d.Log = logrus.New()
	d.Log.SetOutput(&text)
	d.Log.SetFormatter(&logrus.TextFormatter{DisableTimestamp: true, DisableQuote: true})
	n, err := New(p, Options{State: MergeState(caffepb.Phase_TRAIN), Device: d, Economise: true})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	n.ClearParamDiffs()
	text.Reset()
	if _, err := n.ForwardBackward(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"[Forward] Layer x, top blob x data: 2",
		"[Forward] Layer ip, top blob y data: 6",
		"[Forward] Layer ip, param blob w data: 1.5",
		"[Forward] Layer l, top blob l data: 9",
		"[Backward] Layer l, bottom blob y diff: 6",
		"[Backward] Layer ip, param blob 0 diff: 12",
		"[Backward] All net params (data, diff): L1 norm = (3, 24); L2 norm = (2.12132, 16.9706)",
	}
	var got []string
	for line := range strings.Lines(text.String()) {
		if _, line, ok := strings.Cut(strings.TrimSpace(line), "msg="); ok {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the lines are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
