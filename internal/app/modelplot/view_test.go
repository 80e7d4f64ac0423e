package modelplot

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	_ "github.com/swcaffe/swcaffe/layers/all"
	"github.com/swcaffe/swcaffe/modeltime"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

const viewed = `name: "viewed"
layer { name: "d" type: "Data" top: "data" top: "label" data_param { source: "nowhere" batch_size: 4 } transform_param { crop_size: 8 } include { phase: TRAIN } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "ip" type: "InnerProduct" bottom: "c" top: "y" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "label" top: "l" }
`

// names returns the elements and the texts of a picture.
func names(t *testing.T, picture string) string {
	t.Helper()
	var all strings.Builder
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			all.Write(text)
		}
	}
}

// TestView: a run's texts give what time -machine models, with both pictures; wrong texts and layers are errors.
func TestView(t *testing.T) {
	machine, err := os.ReadFile("../../../cpe/machines/sw26010.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	_, host, err := cpe.Text("host")
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewView(viewed, string(machine), "conv", "weights")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	file := &swproto.Net{Param: &caffepb.NetParameter{}}
	if _, err := swproto.UnmarshalText("net", []byte(viewed), file.Param); err != nil {
		t.Fatal(err)
	}
	want, err := modeltime.Run(file, modeltime.Options{Spec: spec, Mode: cpe.CostOnly, State: &caffepb.NetState{Phase: caffepb.Phase_TRAIN.Enum()}})
	if err != nil || v.Report.Total != want.Total || want.Total.IterationMs <= 0 || v.Report.Batch != 4 {
		t.Errorf("%v: an iteration has %+v, want %+v", err, v.Report.Total, want.Total)
	}
	for picture, text := range map[string]string{v.Roofline: "Roofline: viewed on sw26010", v.Heatmap: "conv, " + v.Report.Mesh.Direction} {
		if got := names(t, picture); !strings.Contains(got, text) {
			t.Errorf("a picture lacks %q: %.300s", text, got)
		}
	}
	if v, err := NewView(viewed, string(machine), "", ""); err != nil || v.Heatmap != "" || v.Report.Mesh != nil {
		t.Errorf("%v: a picture of no layer's mesh", err)
	}
	for _, c := range [][5]string{
		{"layer {", string(machine), "", "", "the run's net:"},
		{viewed, "name: 3", "", "", "the run's machine:"},
		{viewed, string(host), "", "", "not a modelled machine"},
		{viewed, string(machine), "none", "forward", `none`},
		{viewed, string(machine), "conv", "up", `"up" is no direction`},
	} {
		if _, err := NewView(c[0], c[1], c[2], c[3]); err == nil || !strings.Contains(err.Error(), c[4]) {
			t.Errorf("%.20s: %v, want %q", c[0], err, c[4])
		}
	}
}
