package net

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestDebugInfoOfANet: a net with debug_info prints the mean magnitudes of all tops, weights and gradients. Here x = (2, 2), y = w*x = 6
// and dw = 12; dx is not computed. Forward names weights, Backward numbers them.
func TestDebugInfoOfANet(t *testing.T) {
	p := parse(t, `debug_info: true
		layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 dim: 2 } data_filler { value: 2 } } }
		layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" param { name: "w" } inner_product_param { num_output: 1 bias_term: false weight_filler { value: 1.5 } } }
		layer { name: "l" type: "Power" bottom: "y" top: "l" power_param { power: 2 scale: 0.5 } loss_weight: 2 }`)
	checkDebug(t, p, []string{
		"[Forward] Layer x, top blob x data: 2",
		"[Forward] Layer ip, top blob y data: 6",
		"[Forward] Layer ip, param blob w data: 1.5",
		"[Forward] Layer l, top blob l data: 9",
		"[Backward] Layer l, bottom blob y diff: 6",
		"[Backward] Layer ip, param blob 0 diff: 12",
		"[Backward] All net params (data, diff): L1 norm = (3, 24); L2 norm = (2.12132, 16.9706)",
	})
}

// TestDebugInfoOfFrozenWeights: each of its layers prints a shared weight's gradient; none prints that of a weight with lr_mult 0.
// BatchNorm's gradients are 0, and printed unless lr_mult is given. The lines are those of Caffe 1.0.
func TestDebugInfoOfFrozenWeights(t *testing.T) {
	p := parse(t, `debug_info: true
		layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 4 dim: 2 } shape { dim: 4 dim: 2 }
			data_filler { value: 2 } data_filler { value: 0.5 } } }
		layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" } param { lr_mult: 0 }
			inner_product_param { num_output: 2 weight_filler { value: 0.25 } bias_filler { value: 0.5 } } }
		layer { name: "bn" type: "BatchNorm" bottom: "a" top: "bn" }
		layer { name: "bn2" type: "BatchNorm" bottom: "a" top: "bn2" param { lr_mult: 0 } param { lr_mult: 0 } }
		layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" param { name: "w" } param { lr_mult: 2 }
			inner_product_param { num_output: 2 weight_filler { value: 1 } bias_filler { value: 0.5 } } }
		layer { name: "f" type: "InnerProduct" bottom: "b" top: "f" param { lr_mult: 0 }
			inner_product_param { num_output: 2 bias_term: false weight_filler { value: 0.5 } } }
		layer { name: "s" type: "Eltwise" bottom: "f" bottom: "bn" bottom: "bn2" top: "s" }
		layer { name: "l" type: "EuclideanLoss" bottom: "s" bottom: "t" top: "l" }`)
	checkDebug(t, p, []string{
		"[Forward] Layer x, top blob x data: 2",
		"[Forward] Layer x, top blob t data: 0.5",
		"[Forward] Layer a, top blob a data: 1.5",
		"[Forward] Layer a, param blob w data: 0.25",
		"[Forward] Layer a, param blob 1 data: 0.5",
		"[Forward] Layer a_a_0_split, top blob a_a_0_split_0 data: 1.5",
		"[Forward] Layer a_a_0_split, top blob a_a_0_split_1 data: 1.5",
		"[Forward] Layer a_a_0_split, top blob a_a_0_split_2 data: 1.5",
		"[Forward] Layer bn, top blob bn data: 0",
		"[Forward] Layer bn, param blob 0 data: 1.5",
		"[Forward] Layer bn, param blob 1 data: 0",
		"[Forward] Layer bn, param blob 2 data: 1",
		"[Forward] Layer bn2, top blob bn2 data: 0",
		"[Forward] Layer bn2, param blob 0 data: 1.5",
		"[Forward] Layer bn2, param blob 1 data: 0",
		"[Forward] Layer bn2, param blob 2 data: 1",
		"[Forward] Layer b, top blob b data: 1.25",
		"[Forward] Layer b, param blob w data: 0.25",
		"[Forward] Layer b, param blob 1 data: 0.5",
		"[Forward] Layer f, top blob f data: 1.25",
		"[Forward] Layer f, param blob 0 data: 0.5",
		"[Forward] Layer s, top blob s data: 1.25",
		"[Forward] Layer l, top blob l data: 0.5625",
		"[Backward] Layer l, bottom blob s diff: 0.1875",
		"[Backward] Layer s, bottom blob f diff: 0.1875",
		"[Backward] Layer s, bottom blob bn diff: 0.1875",
		"[Backward] Layer s, bottom blob bn2 diff: 0.1875",
		"[Backward] Layer f, bottom blob b diff: 0.1875",
		"[Backward] Layer b, bottom blob a_a_0_split_2 diff: 0.09375",
		"[Backward] Layer b, param blob 0 diff: 1.125",
		"[Backward] Layer b, param blob 1 diff: 0.75",
		"[Backward] Layer bn2, bottom blob a_a_0_split_1 diff: 0",
		"[Backward] Layer bn2, param blob 2 diff: 0",
		"[Backward] Layer bn, bottom blob a_a_0_split_0 diff: 0",
		"[Backward] Layer bn, param blob 0 diff: 0",
		"[Backward] Layer bn, param blob 1 diff: 0",
		"[Backward] Layer bn, param blob 2 diff: 0",
		"[Backward] Layer a_a_0_split, bottom blob a diff: 0.09375",
		"[Backward] Layer a, param blob 0 diff: 1.875",
		"[Backward] All net params (data, diff): L1 norm = (13, 9); L2 norm = (3.64005, 3.89711)",
	})
}

// checkDebug compares the lines of one forward and one backward pass.
func checkDebug(t *testing.T, p *caffepb.NetParameter, want []string) {
	t.Helper()
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
