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
			ed := file.Messages().ByName("V1LayerParameter").Enums().ByName(protoreflect.Name(enum))
			if ed == nil || ed.Values().ByName(protoreflect.Name(value)) != nil {
				t.Errorf("%s: there is no such enum, or it has the value", name)
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
