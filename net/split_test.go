package net

import (
	"errors"
	"strings"
	"testing"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func parse(t *testing.T, text string) *caffepb.NetParameter {
	t.Helper()
	p := &caffepb.NetParameter{}
	if _, err := swproto.UnmarshalText("test.prototxt", []byte(text), p); err != nil {
		t.Fatal(err)
	}
	return p
}

// wiring prints a net's structure, one line per layer: name, bottoms -> tops, loss weights.
func wiring(p *caffepb.NetParameter) string {
	var s strings.Builder
	for _, l := range p.Layer {
		s.WriteString(l.GetName() + ": " + strings.Join(l.Bottom, " ") + " -> " + strings.Join(l.Top, " "))
		for i, w := range l.LossWeight {
			if i == 0 {
				s.WriteString(" loss")
			}
			s.WriteString(" " + map[float32]string{0: "0", 1: "1", 2: "2"}[w])
		}
		s.WriteString("\n")
	}
	return s.String()
}

func TestInsertSplits(t *testing.T) {
	tests := []struct{ name, net, want string }{
		{"no split", `
			layer { name: "data" type: "Data" top: "data" top: "label" }
			layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" }
			layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" }`, `
			data:  -> data label
			ip: data -> ip
			loss: ip label -> 
			`},
		{"two readers", `
			layer { name: "data" type: "Data" top: "data" top: "label" }
			layer { name: "ip1" type: "InnerProduct" bottom: "data" top: "ip1" }
			layer { name: "ip2" type: "InnerProduct" bottom: "data" top: "ip2" }
			layer { name: "loss" type: "EuclideanLoss" bottom: "ip1" bottom: "ip2" }`, `
			data:  -> data label
			data_data_0_split: data -> data_data_0_split_0 data_data_0_split_1
			ip1: data_data_0_split_0 -> ip1
			ip2: data_data_0_split_1 -> ip2
			loss: ip1 ip2 -> 
			`},
		{"second top", `
			layer { name: "data" type: "Data" top: "data" top: "label" }
			layer { name: "loss1" type: "EuclideanLoss" bottom: "data" bottom: "label" }
			layer { name: "loss2" type: "EuclideanLoss" bottom: "data" bottom: "label" }`, `
			data:  -> data label
			data_data_0_split: data -> data_data_0_split_0 data_data_0_split_1
			label_data_1_split: label -> label_data_1_split_0 label_data_1_split_1
			loss1: data_data_0_split_0 label_data_1_split_0 -> 
			loss2: data_data_0_split_1 label_data_1_split_1 -> 
			`},
		{"in place: the last writer is split", `
			layer { name: "data" type: "Data" top: "data" }
			layer { name: "relu" type: "ReLU" bottom: "data" top: "data" }
			layer { name: "ip1" type: "InnerProduct" bottom: "data" top: "ip1" }
			layer { name: "ip2" type: "InnerProduct" bottom: "data" top: "ip2" }`, `
			data:  -> data
			relu: data -> data
			data_relu_0_split: data -> data_relu_0_split_0 data_relu_0_split_1
			ip1: data_relu_0_split_0 -> ip1
			ip2: data_relu_0_split_1 -> ip2
			`},
		{"a loss that is read on", `
			layer { name: "data" type: "Data" top: "data" top: "label" }
			layer { name: "loss" type: "EuclideanLoss" bottom: "data" bottom: "label" top: "l" loss_weight: 2 }
			layer { name: "power" type: "Power" bottom: "l" top: "p" }`, `
			data:  -> data label
			loss: data label -> l loss 0
			l_loss_0_split: l -> l_loss_0_split_0 l_loss_0_split_1 loss 2 0
			power: l_loss_0_split_1 -> p
			`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := parse(t, test.net)
			before := wiring(p)
			out, origin, err := InsertSplits(p, identity(len(p.Layer)))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(strings.TrimPrefix(test.want, "\n"), "\t", "")
			if got := wiring(out); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			if wiring(p) != before {
				t.Error("the pass changed its argument")
			}
			if len(origin) != len(out.Layer) {
				t.Errorf("%d origins for %d layers", len(origin), len(out.Layer))
			}
			again, _, err := InsertSplits(out, origin)
			if err != nil || wiring(again) != wiring(out) {
				t.Errorf("a second pass changed the net: %v\n%s", err, wiring(again))
			}
		})
	}
}

func identity(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

func TestUnknownBottomNamesTheNearest(t *testing.T) {
	p := parse(t, `
		layer { name: "data" type: "Data" top: "data" }
		layer { name: "ip" type: "InnerProduct" bottom: "dat" top: "ip" }`)
	_, _, err := InsertSplits(p, identity(2))
	var le *LayerError
	if !errors.As(err, &le) || le.Layer != "ip" || le.Index != 1 {
		t.Fatalf("error %v does not name layer 1, ip", err)
	}
	for _, want := range []string{`"dat"`, `did you mean "data"?`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
}
