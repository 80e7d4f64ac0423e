package layers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

// cases is what TestEveryType walks. Each layer's test file adds its own.
var cases []layertest.Case

// addCases adds cases of one type.
func addCases(typ string, cs ...layertest.Case) {
	for _, c := range cs {
		c.Type = typ
		cases = append(cases, c)
	}
}

// TestEveryType checks gradients and the agreement of both paths on every machine, for every registered type.
func TestEveryType(t *testing.T) { layertest.Walk(t, cases) }

// known are the types that a net may ask for: all of BVLC Caffe's but Python, and SWCaffe's Lstm.
var known = []string{
	"AbsVal", "Accuracy", "ArgMax", "BNLL", "BatchNorm", "BatchReindex", "Bias", "Clip", "Concat", "ContrastiveLoss",
	"Convolution", "Crop", "Data", "Deconvolution", "Dropout", "DummyData", "ELU", "Eltwise", "Embed", "EuclideanLoss",
	"Exp", "Filter", "Flatten", "HDF5Data", "HDF5Output", "HingeLoss", "Im2col", "ImageData", "InfogainLoss",
	"InnerProduct", "Input", "LRN", "LSTM", "LSTMUnit", "Log", "Lstm", "MVN", "MemoryData", "MultinomialLogisticLoss",
	"PReLU", "Parameter", "Pooling", "Power", "RNN", "ReLU", "Reduction", "Reshape", "SPP", "Scale", "Sigmoid",
	"SigmoidCrossEntropyLoss", "Silence", "Slice", "Softmax", "SoftmaxWithLoss", "Split", "Swish", "TanH", "Threshold",
	"Tile", "WindowData",
}

func TestTypesAreCaffes(t *testing.T) {
	var names []string
	for _, typ := range layers.Types() {
		names = append(names, typ.Name)
	}
	for _, name := range known {
		if !slices.Contains(names, name) {
			t.Errorf("there is no type %q", name)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			t.Errorf("the type %q is not among those known here", name)
		}
	}
}

func TestTypesAreSorted(t *testing.T) {
	var names []string
	for _, typ := range layers.Types() {
		names = append(names, typ.Name)
	}
	if !slices.IsSorted(names) {
		t.Errorf("types are not sorted: %v", names)
	}
}

func TestUnknownTypeSuggestsTheNearest(t *testing.T) {
	_, err := layers.Find("Convolutoin")
	if err == nil {
		t.Fatal("an unknown type was found")
	}
	for _, part := range []string{`"Convolutoin"`, `"Convolution"?`, "InnerProduct"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not contain %q", err, part)
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
		want          string // "" where the numbers are right
	}{
		{"InnerProduct", 1, 1, ""},
		{"InnerProduct", 2, 1, "bottom blobs: 2 given, exactly 1 needed"},
		{"InnerProduct", 1, 0, "top blobs: 0 given, exactly 1 needed"},
		{"Eltwise", 1, 1, "bottom blobs: 1 given, at least 2 needed"},
		{"Pooling", 1, 3, "top blobs: 3 given, at most 2 allowed"},
		{"Convolution", 3, 3, ""},
		{"Convolution", 3, 2, "3 bottom blobs but 2 top blobs: a Convolution layer needs as many of each"},
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
