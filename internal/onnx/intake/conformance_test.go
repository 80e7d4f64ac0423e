package intake

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// onnxData is the folder of ONNX's own tests in Debian's package libonnx-testdata 1.12: a model with inputs and expected outputs in each folder.
const onnxData = "/usr/share/libonnx-testdata/data"

const onnxDataModels = 1072

// onnxDoc has the table of TestConformance between these lines.
const (
	onnxDoc    = "../../../docs/onnx.md"
	tableBegin = "<!-- written by TestConformance -rewrite -->\n"
	tableEnd   = "<!-- end -->\n"
)

// verdict of a model: "" if it is right, a reason if it is refused, or how it differs.
type verdict struct {
	operator, kind string
	refused        string
	differs        string
}

// readTensors reads input_K.pb or output_K.pb.
func readTensors(folder, what string) (out []*onnxpb.TensorProto, err error) {
	for k := 0; ; k++ {
		data, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%s_%d.pb", what, k)))
		if errors.Is(err, os.ErrNotExist) {
			return out, nil
		}
		t := &onnxpb.TensorProto{}
		if err == nil {
			err = proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, t)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
}

// retype mends bfloat16 values, which the files declare as uint16.
func retype(infos []*onnxpb.ValueInfoProto, tensors []*onnxpb.TensorProto) {
	for k, t := range tensors {
		if kind := infos[k].GetType().GetTensorType().GetElemType(); elementType(kind) == bfloat16s {
			t.DataType = proto.Int32(kind)
		}
	}
}

// freeze makes initializers of all inputs of a model but the first ones.
func freeze(m *onnx.Model, inputs []*onnxpb.TensorProto, first int) []*onnxpb.TensorProto {
	g := m.GetGraph()
	for k := first; k < len(inputs); k++ {
		t := proto.CloneOf(inputs[k])
		t.Name = g.Input[k].Name
		g.Initializer = append(g.Initializer, t)
	}
	g.Input = g.Input[:first]
	return inputs[:first]
}

// computed imports a model and returns its outputs for inputs. Errors of a net that was made begin with "differs".
func computed(m *onnx.Model, values []*onnxtest.Tensor, device *layers.Device) ([]*onnxtest.Tensor, error) {
	g := m.GetGraph()
	shapes := map[string][]int{}
	for k, v := range values {
		shapes[g.Input[k].GetName()] = v.Dims
	}
	if err := SetShapes(m, shapes); err != nil {
		return nil, err
	}
	r, err := Net(m, 1, device)
	if err != nil {
		return nil, err
	}
	n, err := swnet.New(r.Net, swnet.Options{Device: device, State: &caffepb.NetState{Phase: caffepb.Phase_TEST.Enum()}, ForwardOnly: true})
	if err != nil {
		return nil, fmt.Errorf("differs: the net is refused: %w", err)
	}
	defer n.Close()
	if err := n.CopyWeights(r.Weights); err != nil {
		return nil, fmt.Errorf("differs: the weights are refused: %w", err)
	}
	for k, v := range values {
		b := n.Blob(g.Input[k].GetName())
		if len(b.Data()) != len(v.Data) {
			return nil, fmt.Errorf("differs: input %d has shape %v instead of %v", k, b.Shape(), v.Dims)
		}
		if !slices.Equal(b.Shape(), v.Dims) {
			v = channelsFirst(v)
		}
		for i, x := range v.Data {
			b.Data()[i] = float32(x)
		}
	}
	if _, err := n.Forward(); err != nil {
		return nil, fmt.Errorf("differs: %w", err)
	}
	var out []*onnxtest.Tensor
	for _, o := range g.GetOutput() {
		b := n.Blob(o.GetName())
		if b == nil {
			return nil, fmt.Errorf("differs: no blob %q", o.GetName())
		}
		input := slices.ContainsFunc(g.Input, func(i *onnxpb.ValueInfoProto) bool { return i.GetName() == o.GetName() })
		if !input && !slices.ContainsFunc(n.Outputs(), func(out swnet.Output) bool { return out.Name == o.GetName() }) {
			return nil, fmt.Errorf("differs: blob %q is no output of the net", o.GetName())
		}
		out = append(out, onnxtest.FromBlob(b.Shape(), b.Data()))
	}
	return out, nil
}

func channelsFirst(v *onnxtest.Tensor) *onnxtest.Tensor {
	n, h, w, c := v.Dims[0], v.Dims[1], v.Dims[2], v.Dims[3]
	out := onnxtest.New(n, c, h, w)
	for i, x := range v.Data {
		out.Data[(i/(h*w*c)*c+i%c)*h*w+i/c%(h*w)] = x
	}
	return out
}

// difference tells how values differ from the expected ones by more than 1e-5 of the largest and 1e-4 of themselves.
func difference(got, want *onnxtest.Tensor) string {
	if !slices.Equal(got.Dims, want.Dims) {
		return fmt.Sprintf("shape %v instead of %v", got.Dims, want.Dims)
	}
	size := 0.0
	for _, w := range want.Data {
		if !math.IsInf(w, 0) {
			size = max(size, math.Abs(w))
		}
	}
	for i, w := range want.Data {
		g := got.Data[i]
		if same := g == w || math.IsNaN(g) && math.IsNaN(w); !same && !(math.Abs(g-w) <= 1e-5*size+1e-4*math.Abs(w)) || math.IsInf(w, 0) && g != w {
			return fmt.Sprintf("value %d is %g instead of %g", i, g, w)
		}
	}
	return ""
}

// judge tries a model with all inputs live, or with all but the first constant.
func judge(folder string, constant bool, device *layers.Device) (v verdict, err error) {
	v.kind, v.operator = filepath.Base(filepath.Dir(folder)), "several"
	m, err := onnx.Read(filepath.Join(folder, "model.onnx"))
	if err != nil {
		v.operator, v.refused = "of sequences", strings.TrimPrefix(err.Error(), filepath.Join(folder, "model.onnx")+": ")
		return v, nil
	}
	if nodes := m.GetGraph().GetNode(); len(nodes) == 1 {
		v.operator = nodes[0].GetOpType()
	}
	inputs, err := readTensors(filepath.Join(folder, "test_data_set_0"), "input")
	if err != nil {
		return v, err
	}
	expected, err := readTensors(filepath.Join(folder, "test_data_set_0"), "output")
	if err != nil {
		return v, err
	}
	retype(m.GetGraph().GetInput(), inputs)
	retype(m.GetGraph().GetOutput(), expected)
	if constant && len(inputs) > 1 {
		inputs = freeze(m, inputs, 1)
	}
	var values []*onnxtest.Tensor
	for _, t := range inputs {
		value, err := onnxtest.FromProto(t)
		if err != nil {
			break // import refuses the input's type
		}
		values = append(values, value)
	}
	outputs, err := computed(m, values, device)
	if err != nil {
		if text, differs := strings.CutPrefix(err.Error(), "differs: "); differs {
			v.differs = text
		} else {
			v.refused = strings.TrimPrefix(err.Error(), m.Path+": ")
		}
		return v, nil
	}
	for k, t := range expected {
		want, err := onnxtest.FromProto(t)
		if err != nil {
			v.differs = fmt.Sprintf("output %d: %v", k, err)
		} else if d := difference(outputs[k], want); d != "" {
			v.differs = fmt.Sprintf("output %d: %s", k, d)
		}
	}
	return v, nil
}

// TestConformance computes ONNX's own tests with imported nets: each is right or refused, and docs/onnx.md has the counts.
func TestConformance(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(onnxData, "*", "*", "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Skipf("no models in %s: Debian's package libonnx-testdata has them (scripts/onnx_oracles.sh -install)", onnxData)
	}
	device := onnxtest.Device(t)
	var verdicts []verdict
	for _, file := range folders {
		folder := filepath.Dir(file)
		for _, constant := range []bool{false, true} {
			v, err := judge(folder, constant, device)
			if err != nil {
				t.Error(err)
				continue
			}
			if v.differs != "" {
				t.Errorf("%s, constants %v: %s", filepath.Base(folder), constant, v.differs)
			}
			if os.Getenv("SWCAFFE_ONNX_REFUSED") != "" && v.refused != "" {
				fmt.Println("REFUSED", filepath.Base(folder), constant, v.refused)
			}
			verdicts = append(verdicts, v)
		}
	}
	if len(folders) != onnxDataModels {
		t.Skipf("%s has %d models; the table in docs/onnx.md is of version 1.12, with %d", onnxData, len(folders), onnxDataModels)
	}
	checkTable(t, table(verdicts))
}

// checkTable holds the table against docs/onnx.md, or writes it there with -rewrite.
func checkTable(t *testing.T, want string) {
	text, err := os.ReadFile(onnxDoc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), tableBegin)
	have, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		t.Fatalf("%s has no table between %q and %q", onnxDoc, tableBegin, tableEnd)
	}
	if *rewrite {
		if err := os.WriteFile(onnxDoc, []byte(before+tableBegin+want+tableEnd+after), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if have != want {
		t.Errorf("%s has another table; go test -run Conformance ./internal/onnx/intake -rewrite writes\n%s", onnxDoc, want)
	}
}

// row counts the verdicts of an operator.
type row struct {
	name           string
	right, refused int
	reasons        map[string]int
}

var (
	quoted  = regexp.MustCompile(`"[^"]*"`)
	numbers = regexp.MustCompile(`\[?-?\b\d+(\.\d+)?( -?\d+)*\b\]?`)
	nodeAt  = regexp.MustCompile(`^node \d+, "[^"]*" \((\w+)\): `)
)

// reasonOf is what refusals for one reason have in common: names and numbers are left out, and what follows the first clause.
func reasonOf(v verdict) string {
	text := v.refused
	if at := nodeAt.FindStringSubmatch(text); at != nil {
		text = strings.TrimPrefix(text, at[0])
		if v.operator != at[1] {
			text = at[1] + ": " + text
		}
	}
	text, _, _ = strings.Cut(text, ";")
	text, _, _ = strings.Cut(text, ", or swcaffe")
	text = numbers.ReplaceAllString(quoted.ReplaceAllString(text, "…"), "…")
	return strings.NewReplacer("input … (…)", "an input", "input …: it", "an input", "output … (…)", "an output").Replace(text)
}

const unknown = "no layer of Caffe does what this operator does"

// table has a row for each operator of the tests of one node, and for each other kind of tests. Operators that no layer computes share one row.
func table(verdicts []verdict) string {
	rows := map[string]*row{}
	var total row
	unknownNames := map[string]bool{}
	rowOf := func(name string) *row {
		if rows[name] == nil {
			rows[name] = &row{name: name, reasons: map[string]int{}}
		}
		return rows[name]
	}
	for _, v := range verdicts {
		name := v.operator
		switch {
		case v.kind != "node":
			name = "models of " + v.kind
		case name == "several":
			name = "operators written as several"
		}
		reason := ""
		if v.refused != "" {
			reason = reasonOf(v)
		}
		if v.kind == "node" && v.operator != "several" && strings.HasPrefix(reason, unknown) {
			unknownNames[v.operator] = true
			name = "~"
		}
		r := rowOf(name)
		switch {
		case v.refused != "":
			r.refused++
			total.refused++
			r.reasons[reason]++
		case v.differs == "":
			r.right++
			total.right++
		}
	}
	text := fmt.Sprintf("%d of %d are right, %d are refused, %d differ.\n\n| operator | right | refused | for these reasons |\n|---|---|---|---|\n",
		total.right, len(verdicts), total.refused, len(verdicts)-total.right-total.refused)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		reasons := slices.SortedFunc(maps.Keys(r.reasons), func(a, b string) int {
			return cmp.Or(cmp.Compare(r.reasons[b], r.reasons[a]), cmp.Compare(a, b))
		})
		if len(reasons) > 3 {
			reasons = append(reasons[:3], "and others")
		}
		if name == "~" {
			name, reasons = strings.Join(slices.Sorted(maps.Keys(unknownNames)), ", "), []string{unknown}
		}
		text += fmt.Sprintf("| %s | %d | %d | %s |\n", name, r.right, r.refused, strings.Join(reasons, "; "))
	}
	return text
}
