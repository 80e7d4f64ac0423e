package all_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// cases lists the cases of TestEveryType. Each layer's test file adds its own.
var cases []layertest.Case

// addCases adds cases of one type.
func addCases(typ string, cs ...layertest.Case) {
	for _, c := range cs {
		c.Type = typ
		cases = append(cases, c)
	}
}

// TestEveryType checks every registered type: gradients, and the agreement of both paths on every machine.
func TestEveryType(t *testing.T) { layertest.Walk(t, cases) }

// TestEveryTypeOfTheSchema: every type with parameters in caffe.proto, and every type number of old nets, is registered, except Caffe's
// Python layers. Types with neither have cases, and TestEveryType needs a type for every case.
func TestEveryTypeOfTheSchema(t *testing.T) {
	registered := map[string]bool{}
	for _, typ := range layers.Types() {
		registered[spelled(typ.Name)] = true
	}
	types := map[string][]string{ // of fields that are not named after a type
		"transform": nil, "loss": {"SoftmaxWithLoss"}, "python": nil, "recurrent": {"RNN", "LSTM"}, "norm": {"Normalize"},
		"ctc_decoder":    {"CTCGreedyDecoder"},
		"quantization":   {"Convolution", "InnerProduct"},
		"annotated_data": nil, // its parameters precede it
	}
	fields := (&caffepb.LayerParameter{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		name, ok := strings.CutSuffix(string(fields.Get(i).Name()), "_param")
		if !ok {
			continue
		}
		wanted, special := types[name]
		if !special {
			wanted = []string{name}
		}
		for _, w := range wanted {
			if !registered[spelled(w)] {
				t.Errorf("%s_param is there, but no layer of type %s", name, w)
			}
		}
	}
	for number, old := range caffepb.V1LayerParameter_LayerType_name {
		if number == int32(caffepb.V1LayerParameter_NONE) {
			continue
		}
		p := &caffepb.NetParameter{Layers: []*caffepb.V1LayerParameter{{Type: caffepb.V1LayerParameter_LayerType(number).Enum()}}}
		if _, err := swproto.UpgradeNet(p, "net"); err != nil {
			t.Errorf("%s: %v", old, err)
		} else if _, err := layers.Find(p.Layer[0].GetType()); err != nil {
			t.Errorf("%s: %v", old, err)
		}
	}
}

// spelled removes the differences in spelling between a field's and a type's name.
func spelled(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func TestTypesAreSorted(t *testing.T) {
	var names []string
	for _, typ := range layers.Types() {
		names = append(names, typ.Name)
	}
	if !slices.IsSorted(names) {
		t.Errorf("types are not sorted: %v", names)
	}
}

// TestUnknownType: an error suggests the nearest type, or lists all types if none is near.
func TestUnknownType(t *testing.T) {
	for name, parts := range map[string][]string{"Convolutoin": {`"Convolutoin"`, `"Convolution"?`}, "Quixotic": {`"Quixotic"`, "Convolution, ", "InnerProduct, "}} {
		_, err := layers.Find(name)
		if err == nil {
			t.Fatalf("the type %s was found", name)
		}
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error %q does not contain %q", err, part)
			}
		}
	}
}

// TestOtherNames: a type with another program's name, or that of Caffe's old format, is told Caffe's.
func TestOtherNames(t *testing.T) {
	for name, want := range map[string]string{"FullyConnected": "InnerProduct", "SOFTMAX_LOSS": "SoftmaxWithLoss", "Conv2d": "Convolution", "MaxPooling": "Pooling"} {
		if _, err := layers.Find(name); err == nil || err.Error() != fmt.Sprintf("unknown layer type %q; in Caffe its name is %q", name, want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		} else if _, err := layers.Find(want); err != nil {
			t.Error(err)
		}
	}
}

func TestRegisteringTwicePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("registering Pooling again did not panic")
		}
	}()
	layers.Register(layers.Type{Name: "Pooling"})
}

func TestNumbersOfBlobsAreChecked(t *testing.T) {
	tests := []struct {
		typ           string
		bottoms, tops int
		want          string // "" if the numbers are valid
	}{
		{"InnerProduct", 1, 1, ""},
		{"InnerProduct", 2, 1, "bottom blobs: 2 given, exactly 1 needed"},
		{"InnerProduct", 1, 0, "top blobs: 0 given, exactly 1 needed"},
		{"Eltwise", 1, 1, "bottom blobs: 1 given, at least 2 needed"},
		{"Pooling", 1, 3, "top blobs: 3 given, at most 2 allowed"},
		{"Convolution", 3, 3, ""},
		{"Convolution", 3, 2, "3 bottom blobs but 2 top blobs: a Convolution layer needs equal numbers"},
	}
	for _, tt := range tests {
		typ, err := layers.Find(tt.typ)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := typ.CheckBlobs(tt.bottoms, tt.tops); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s with %d bottoms and %d tops: %q, expected %q", tt.typ, tt.bottoms, tt.tops, got, tt.want)
		}
	}
}
