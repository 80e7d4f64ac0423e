package all_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestParams: every type declares the parameter messages that it reads, or has one with its name. The messages exist, the type's package reads them,
// and every message is read by some type.
func TestParams(t *testing.T) {
	fields := (&caffepb.LayerParameter{}).ProtoReflect().Descriptor().Fields()
	getter := map[string]string{}
	structure := reflect.TypeOf(caffepb.LayerParameter{})
	for i := range structure.NumField() {
		for part := range strings.SplitSeq(structure.Field(i).Tag.Get("protobuf"), ",") {
			if name, ok := strings.CutPrefix(part, "name="); ok {
				getter[name] = "Get" + structure.Field(i).Name + "()"
			}
		}
	}
	used := map[string]bool{"python_param": true} // of the Python module's type
	for _, typ := range layers.Types() {
		reads, known := typ.Reads()
		if !known {
			t.Errorf("%s declares no Params", typ.Name)
		}
		code := sourceOf(t, typ)
		for _, name := range reads {
			used[name] = true
			if fields.ByName(protoreflect.Name(name)) == nil {
				t.Errorf("%s reads %s, which LayerParameter does not have", typ.Name, name)
			} else if own := strings.ReplaceAll(name, "_", "") == strings.ToLower(typ.Name)+"param"; !own && !strings.Contains(code, getter[name]) {
				t.Errorf("%s declares %s, but its package does not call %s", typ.Name, name, getter[name])
			}
		}
	}
	for i := range fields.Len() {
		if name := string(fields.Get(i).Name()); strings.HasSuffix(name, "_param") && !used[name] {
			t.Errorf("no type reads %s", name)
		}
	}
}

// sourceOf returns the code of a type's package.
func sourceOf(t *testing.T, typ layers.Type) string {
	made := reflect.TypeOf(typ.New(&caffepb.LayerParameter{Type: &typ.Name}, &layers.Device{})).Elem()
	files, err := filepath.Glob(filepath.Join("..", filepath.Base(made.PkgPath()), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no code of %s: %v", typ.Name, made.PkgPath(), err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// TestParamsOfCases: no layer of the cases, or of the nets of models, has parameters that its type does not read.
func TestParamsOfCases(t *testing.T) {
	for _, c := range cases {
		p := &caffepb.LayerParameter{}
		param := c.Param
		if c.Files != nil {
			param += c.Files(t)
		}
		if _, err := swproto.UnmarshalText(c.String(), []byte(param), p); err != nil {
			t.Fatal(err)
		}
		p.Type = &c.Type
		checkParams(t, c.String(), p)
	}
	files, err := filepath.Glob("../../models/*/*.prototxt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no models: %v", err)
	}
	for _, file := range files {
		if solver, err := swproto.IsSolver(file); err != nil || solver {
			continue
		}
		n, err := swproto.ReadNet(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range n.Param.Layer {
			checkParams(t, file+": "+l.GetName(), l)
		}
	}
}

func checkParams(t *testing.T, name string, p *caffepb.LayerParameter) {
	t.Helper()
	typ, err := layers.Find(p.GetType())
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for _, none := range typ.Ineffective(p) {
		if !slices.Contains(typ.Prepares, none) {
			t.Errorf("%s: %s has no effect", name, none)
		}
	}
	for _, said := range typ.IneffectiveFillers(p) {
		t.Errorf("%s: %s", name, said)
	}
}

// TestIneffectiveFillers: a filler reads the fields of its type, which is constant unless it is given.
func TestIneffectiveFillers(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{`type: "Convolution" convolution_param { weight_filler { std: 0.01 } bias_filler { value: 1 } }`, []string{"std has no effect in a weight_filler of type constant, the default, which reads value"}},
		{`type: "InnerProduct" inner_product_param { weight_filler { type: "xavier" std: 0.1 value: 2 } }`,
			[]string{"std has no effect in a weight_filler of type xavier, which reads variance_norm", "value has no effect in a weight_filler of type xavier, which reads variance_norm"}},
		{`type: "Deconvolution" convolution_param { weight_filler { type: "bilinear" min: 1 } }`, []string{"min has no effect in a weight_filler of type bilinear, which reads none"}},
		{`type: "DummyData" dummy_data_param { data_filler { type: "uniform" min: -1 max: 1 } data_filler { type: "gaussian" value: 1 } }`,
			[]string{"value has no effect in a data_filler of type gaussian, which reads mean, std, sparse"}},
		{`type: "Scale" scale_param { bias_filler { value: 1 } }`, []string{"bias_filler has no effect without bias_term: true"}},
		{`type: "Scale" scale_param { bias_term: true bias_filler { value: 1 } }`, nil},
		{`type: "Convolution" convolution_param { bias_filler { value: 1 } weight_filler { type: "msra" variance_norm: FAN_OUT } }`, nil},
		{`type: "Convolution" convolution_param { weight_filler { type: "unknown" std: 1 } }`, nil},
		{`type: "ReLU" convolution_param { weight_filler { std: 1 } }`, nil},
	} {
		p := &caffepb.LayerParameter{}
		if _, err := swproto.UnmarshalText("layer", []byte(c.text), p); err != nil {
			t.Fatal(err)
		}
		typ, err := layers.Find(p.GetType())
		if err != nil {
			t.Fatal(err)
		}
		if got := typ.IneffectiveFillers(p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestIneffective: parameters of other types are found, but not a message that gives an engine alone, nor any for a type that declares nothing.
func TestIneffective(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{`type: "Input" input_param { shape { dim: 1 } } transform_param { scale: 0.1 }`, []string{"transform_param"}},
		{`type: "BatchNorm" bn_param { momentum: 0.9 } batch_norm_param { eps: 0.1 }`, []string{"bn_param"}},
		{`type: "InnerProduct" convolution_param { num_output: 2 } inner_product_param { num_output: 2 } relu_param { negative_slope: 1 }`, []string{"convolution_param", "relu_param"}},
		{`type: "LSTM" lstm_param { num_output: 2 }`, []string{"lstm_param"}},
		{`type: "Lstm" lstm_param { num_output: 2 }`, nil},
		{`type: "Softmax" softmax_param { axis: 1 } param { name: "w" } include { phase: TRAIN }`, nil},
		{`type: "Accuracy" softmax_param { engine: CAFFE } relu_param { }`, nil},
		{`type: "Deconvolution" convolution_param { num_output: 1 }`, nil},
	} {
		p := &caffepb.LayerParameter{}
		if _, err := swproto.UnmarshalText("layer", []byte(c.text), p); err != nil {
			t.Fatal(err)
		}
		typ, err := layers.Find(p.GetType())
		if err != nil {
			t.Fatal(err)
		}
		if got := typ.Ineffective(p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.text, got, c.want)
		}
	}
	user := layers.Type{Name: "Mine"}
	if got := user.Ineffective(&caffepb.LayerParameter{PowerParam: &caffepb.PowerParameter{}}); got != nil {
		t.Errorf("a user's type: %v", got)
	}
}

// TestMessagesOfTypes: a type reads the message that has its name, as NetSpec supposes, which writes a layer's parameters there. The exception is in
// _type_of_message of python/caffe/net_spec.py.
func TestMessagesOfTypes(t *testing.T) {
	fields := (&caffepb.LayerParameter{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		name := string(fields.Get(i).Name())
		if !strings.HasSuffix(name, "_param") {
			continue
		}
		kind := strings.TrimSuffix(string(fields.Get(i).Message().Name()), "Parameter")
		if kind == "LSTM" {
			kind = "Lstm"
		}
		typ, err := layers.Find(kind)
		if err != nil {
			continue // a message for several types, or for all
		}
		if reads, _ := typ.Reads(); !slices.Contains(reads, name) {
			t.Errorf("type %s reads %v, not %s", kind, reads, name)
		}
	}
}
