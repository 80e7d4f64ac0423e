package proto

import (
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A field that the schema has is no fork's.
func TestForksFieldsAreNotOurs(t *testing.T) {
	file := caffepb.File_swcaffe_caffe_proto
	for name := range forkOf() {
		if enum, value, ok := strings.Cut(name, "="); ok {
			found := file.Messages().ByName("SolverParameter").Fields().ByName(protoreflect.Name(enum)) != nil
			for i := range file.Messages().Len() {
				if ed := file.Messages().Get(i).Enums().ByName(protoreflect.Name(enum)); ed != nil {
					found = true
					if ed.Values().ByName(protoreflect.Name(value)) != nil {
						t.Errorf("%s: %s has the value", name, ed.FullName())
					}
				}
			}
			if !found {
				t.Errorf("%s: there is no such enum or field", name)
			}
			continue
		}
		message, field, nested := strings.Cut(name, ".")
		if !nested {
			message, field = "LayerParameter", name
		}
		md := file.Messages().ByName(protoreflect.Name(message))
		if md == nil {
			t.Errorf("%s: the schema has no message %s", name, message)
		} else if md.Fields().ByName(protoreflect.Name(field)) != nil {
			t.Errorf("%s is in the schema", name)
		}
	}
	if got := FromFork("Convolution") + FromFork("convolution_param"); got != "" {
		t.Errorf("convolutions are from a fork: %q", got)
	}
}

// TestLayersOfForksInV1: layers of DeepLab and others that the current form has, and an enum's value that names its fork.
func TestLayersOfForksInV1(t *testing.T) {
	const text = `layers { name: "i" type: INTERP bottom: "x" top: "y" interp_param { zoom_factor: 8 } }
		layers { name: "a" type: SEG_ACCURACY bottom: "y" bottom: "t" top: "a" seg_accuracy_param { ignore_label: 255 } }
		layers { name: "b" type: BN bottom: "x" top: "b" blobs_lr: 1 weight_decay: 0 bn_param { shift_filler { type: "constant" value: 3 } } }`
	net := &caffepb.NetParameter{}
	if _, err := UnmarshalText("v1.prototxt", []byte(text), net); err != nil {
		t.Fatal(err)
	}
	if _, err := UpgradeNet(net, "v1.prototxt"); err != nil {
		t.Fatal(err)
	}
	i, a, b := net.Layer[0], net.Layer[1], net.Layer[2]
	if i.GetType() != "Interp" || i.GetInterpParam().GetZoomFactor() != 8 || a.GetType() != "SegAccuracy" || len(a.GetSegAccuracyParam().GetIgnoreLabel()) != 1 {
		t.Errorf("the layers are %v", net.Layer)
	}
	if b.GetType() != "BN" || b.GetBnParam().GetShiftFiller().GetValue() != 3 || len(b.Param) != 1 {
		t.Errorf("the layer is %v", b)
	}
	for value, fork := range map[string]string{"IMAGE_SEG_DATA": "DeepLab", "CROP": "FCN"} {
		_, err := UnmarshalText("v1.prototxt", []byte("layers { type: "+value+" }"), net)
		if err == nil || !strings.Contains(err.Error(), "forks of Caffe such as "+fork) {
			t.Errorf("%s: error %v", value, err)
		}
	}
}

// TestAdvice: an error on what only a fork has says what to write instead. Every piece of advice is for one name at least, and no name has two.
func TestAdvice(t *testing.T) {
	for start := range advice {
		used := false
		for name := range forkOf() {
			used = used || strings.HasPrefix(name, start)
		}
		if !used {
			t.Errorf("%s: no fork has such a name", start)
		}
	}
	for name := range forkOf() {
		found := 0
		for start := range advice {
			if strings.HasPrefix(name, start) {
				found++
			}
		}
		if found > 1 {
			t.Errorf("%s: %d pieces of advice", name, found)
		}
	}
	for text, want := range map[string]string{
		`min_lr: 0.1`:  `unknown field "min_lr" of SolverParameter; forks of Caffe such as NVIDIA's have it, BVLC Caffe and swcaffe do not (here nothing bounds the rate`,
		`stagelr: 0.1`: `forks of Caffe such as caffe-yolo's have it, BVLC Caffe and swcaffe do not (lr_policy "multistep"`,
		`net_param { layer { relu_param { engine: MKLDNN } } }`:      `"MKLDNN" is not a value of Engine; forks of Caffe such as Intel's have it, BVLC Caffe and swcaffe do not (remove it: engines have no effect here`,
		`net_param { layer { forward_type: FLOAT16 } }`:              `unknown field "forward_type" of LayerParameter; forks of Caffe such as NVIDIA's have it, BVLC Caffe and swcaffe do not (remove it: all values are float here`,
		`net_param { engine: "MKLDNN" layer { name: "a" } }`:         `engines have no effect here`,
		`net_param { layer { lrn_param { engine: MKL2017 } } }`:      `engines have no effect here`,
		`net_param { layer { convolution_param { engine: CUDN } } }`: `did you mean "CUDNN"?`,
	} {
		_, err := UnmarshalText("solver.prototxt", []byte(text), &caffepb.SolverParameter{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
