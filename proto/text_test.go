package proto

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// acceptedTexts are nets in every way of writing that Caffe's parser takes.
var acceptedTexts = []string{
	"",
	"\r\n# only a comment, without an end of line",
	"name: 'single' # comment\r\nforce_backward: true\r\n",
	`name: "a" "b"` + "\n  'c'",
	`name: "\a\b\f\n\r\t\v\\\'\"\?\0\101\x41\u00e9\U0001F600"`,
	`input_dim: 1 input_dim: 0x1F input_dim: 017 input_dim: -5 input_dim: - 5 input_dim: [7, -8] input_dim: []`,
	`force_backward: t debug_info: 0`,
	`force_backward: True debug_info: False`,
	`force_backward: 1 debug_info: f`,
	`force_backward: 0x1 debug_info: 00`,
	`state { phase: 1 stage: ["a", 'b'] }`,
	`state: < phase: TEST; level: 3, stage: "x"; >`,
	`state { phase: 0x1 }`,
	`state { phase: -0 }`,
	`layer { loss_weight: 1.5 loss_weight: .5 loss_weight: 5. loss_weight: 1e3 loss_weight: 1E-3 loss_weight: 1e+3 }`,
	`layer { loss_weight: [1.0f, 1F, 2.F, -3f, 1e2f, 0, 0f] }`,
	`layer { loss_weight: inf loss_weight: -Infinity loss_weight: 1e60 loss_weight: -1e60 loss_weight: 1e-60 }`,
	`layer { loss_weight: 16777217 loss_weight: 0.1 loss_weight: 340282346638528859811704183484516925440 }`,
	`layer: [{ name: "a" }, < name: "b" >] layer {} layer <>`,
	`layer{name:"a"bottom:"x"top:"y"}layer{name:"b"}`,
	`layers { layer { name: "v0" type: "conv" pool: AVE } blobs_lr: 1. }`,
	`layers { type: CONVOLUTION blob_share_mode: [STRICT, PERMISSIVE] }`,
	`layer { convolution_param { pad: 1 pad: 2 kernel_size: [3, 4] engine: CUDNN weight_filler { type: "xavier" } } }`,
	`layer { clip_param { min: -1 max: 1 } }`,
}

func TestAcceptedTextsAsProtobufReadsThem(t *testing.T) {
	for _, text := range acceptedTexts {
		compareWithProtobuf(t, text, &caffepb.NetParameter{})
	}
}

// Caffe's parser takes these, protobuf-go's does not.
func TestTextBeyondProtobufGo(t *testing.T) {
	p := &caffepb.NetParameter{}
	text := "# caf\xe9\nname: 'caf\xe9'\v\fforce_backward:\ftrue layer { loss_weight: -nan loss_weight: NaN }"
	if _, err := UnmarshalText("latin1.prototxt", []byte(text), p); err != nil {
		t.Fatal(err)
	}
	w := p.Layer[0].LossWeight
	if p.GetName() != "caf\xe9" || !p.GetForceBackward() || !math.IsNaN(float64(w[0])) || !math.IsNaN(float64(w[1])) {
		t.Errorf("got %v", p)
	}
}

// TestErrors compares every message with the text below its input in testdata/errors.txt.
func TestErrors(t *testing.T) {
	checkSections(t, "testdata/errors.txt", func(t *testing.T, c section) string {
		var m proto.Message = &caffepb.NetParameter{}
		if c.kind == "solver" {
			m = &caffepb.SolverParameter{}
		}
		_, err := UnmarshalText(c.kind+".prototxt", []byte(c.input), m)
		if err == nil {
			t.Fatal("no error")
		}
		return err.Error() + "\n"
	})
}

func TestErrorsAreOneByOneReadable(t *testing.T) {
	_, err := UnmarshalText("n.prototxt", []byte("nam: 'x'\nlayer { phase: 7 }"), &caffepb.NetParameter{})
	errs, ok := err.(Errors)
	if !ok || len(errs) != 2 {
		t.Fatalf("got %T %v", err, err)
	}
	if e := errs[1]; e.File != "n.prototxt" || e.Pos != (Pos{2, 16}) || e.In != "layer" {
		t.Errorf("got %+v", e)
	}
}

func TestSourcePositions(t *testing.T) {
	text := "name: 'n'\ninput: 'a'\ninput: 'b'\nlayer {\n  name: 'l0' }\nlayer: [\n{ pooling_param {\n pad: 1 } },\n{}]\n"
	s, err := UnmarshalText("dir/n.prototxt", []byte(text), &caffepb.NetParameter{})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"name": "dir/n.prototxt:1", "input": "dir/n.prototxt:2", "layer[0]": "dir/n.prototxt:4", "layer[0].name": "dir/n.prototxt:5",
		"layer[1].pooling_param": "dir/n.prototxt:7", "layer[1].pooling_param.pad": "dir/n.prototxt:8",
		"layer[2]": "dir/n.prototxt:6", "layer[3]": "", "layer[2].name": "",
	} {
		if got := s.Pos(path); got != want {
			t.Errorf("Pos(%q) = %q, want %q", path, got, want)
		}
	}
	var none *Source
	if got := none.Pos("name"); got != "" {
		t.Errorf("a nil Source gives %q", got)
	}
}

// TestTextsOfNets reads every prototxt of the zoo and of the conformance cases with both parsers.
func TestTextsOfNets(t *testing.T) {
	eachText(t, func(t *testing.T, files []string) {
		for _, file := range files {
			compareWithProtobuf(t, string(readFile(t, file)), parameter(file))
		}
	})
}

// TestNearest: a field that is absent from a file has the position of the innermost enclosing message in the file.
func TestNearest(t *testing.T) {
	source, err := UnmarshalText("net.prototxt", []byte("name: \"n\"\nlayer {\n  name: \"conv\"\n  convolution_param {\n    pad: 1\n  }\n}\n"), &caffepb.NetParameter{})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"name": "net.prototxt:1", "layer[0].convolution_param.pad": "net.prototxt:5", "layer[0].convolution_param.group": "net.prototxt:4",
		"layer[0].pooling_param.pad": "net.prototxt:2", "layer[1].name": "net.prototxt", "state": "net.prototxt", "": "net.prototxt",
	} {
		if got := source.Nearest(path); got != want {
			t.Errorf("%q stands at %s, want %s", path, got, want)
		}
	}
}
