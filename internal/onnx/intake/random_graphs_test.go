package intake

import (
	"flag"
	"fmt"
	"math"
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

var (
	graphs    = flag.Int("graphs", 0, "number of random graphs that are compared with ONNX Runtime; 0: 3000, or 300 with -short")
	graphSeed = flag.Uint64("graph_seed", 1, "seed of the first random graph; the following ones count on")
)

// TestRandomGraphsRuntime imports random graphs, each node as exporters write it, and compares the nets with ONNX Runtime: right, or refused by
// reason, and none wrong.
func TestRandomGraphsRuntime(t *testing.T) {
	o := onnxtest.StartOracle(t, "SWCAFFE_ONNX_RUNTIME")
	device := onnxtest.Device(t)
	if *graphs == 0 {
		if *graphs = 3000; testing.Short() {
			*graphs = 300
		}
	}
	verdicts, reasons := map[string]int{}, map[string]int{}
	for k := range *graphs {
		seed := *graphSeed + uint64(k)
		v, why := compareGraph(t, o, device, drawGraph(seed, 99))
		verdicts[v]++
		switch v {
		case "refused":
			reasons[reason(why)]++
		case "wrong":
			for nodes := 1; ; nodes++ {
				b := drawGraph(seed, nodes)
				if w, less := compareGraph(t, o, device, b); w == "wrong" {
					t.Errorf("graph %d, shrunk: %v\n%s", seed, less, describe(b.m))
					break
				}
				if nodes > 20 {
					t.Errorf("graph %d: %v\n%s", seed, why, describe(drawGraph(seed, 99).m))
					break
				}
			}
		}
	}
	t.Logf("%d graphs: %d right, %d refused, %d wrong, %d that ONNX Runtime refuses", *graphs, verdicts["right"], verdicts["refused"], verdicts["wrong"], verdicts["invalid"])
	for _, why := range slices.SortedFunc(mapKeys(reasons), func(a, b string) int { return reasons[b] - reasons[a] }) {
		t.Logf("refused %d times: %s", reasons[why], why)
	}
	if verdicts["right"] < *graphs/2 {
		t.Errorf("only %d of %d graphs are right: the others say nothing", verdicts["right"], *graphs)
	}
	if verdicts["invalid"] > *graphs/50 {
		t.Errorf("ONNX Runtime refuses %d of %d graphs", verdicts["invalid"], *graphs)
	}
}

func mapKeys(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// reason leaves names and numbers out of an error.
func reason(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "): "); ok {
		op := text[strings.LastIndex(text[:len(text)-len(after)-3], "(")+1 : len(text)-len(after)-3]
		text = op + ": " + after
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '#'
		}
		return r
	}, text)
}

// compareGraph compares a graph's net with ONNX Runtime.
func compareGraph(t *testing.T, o *onnxtest.Oracle, device *layers.Device, b *maker) (verdict string, why error) {
	t.Helper()
	r, err := Net(&onnx.Model{ModelProto: proto.CloneOf(b.m), Path: "test.onnx"}, 2, device)
	var n *swnet.Net
	if err == nil {
		if n, err = swnet.New(r.Net, swnet.Options{Device: device, State: &caffepb.NetState{Phase: caffepb.Phase_TEST.Enum()}}); err != nil {
			return "wrong", fmt.Errorf("the net cannot be built: %w", err)
		}
		defer n.Close()
		if err := n.CopyWeights(r.Weights); err != nil {
			return "wrong", fmt.Errorf("the weights do not fit: %w", err)
		}
	}
	inputs := map[string]*onnxtest.Tensor{}
	if err == nil {
		inputs = onnxtest.FillInputs(n, &onnxtest.Case{}, 3)
	} else {
		for _, in := range b.m.Graph.Input {
			var dims []int
			for _, d := range in.GetType().GetTensorType().GetShape().GetDim() {
				dims = append(dims, int(d.GetDimValue()))
			}
			inputs[in.GetName()] = onnxtest.New(dims...)
		}
	}
	m := proto.CloneOf(b.m)
	for _, out := range m.Graph.Output {
		out.Type.GetTensorType().Shape = nil
	}
	want, invalid := o.Run(t, m, inputs)
	switch {
	case invalid != nil:
		return "invalid", invalid
	case err != nil:
		return "refused", err
	}
	if _, err := n.Forward(); err != nil {
		return "wrong", err
	}
	for name, w := range want {
		blob := n.Blob(name)
		if blob == nil {
			return "wrong", fmt.Errorf("no blob %q", name)
		}
		if !slices.Equal(blob.Shape(), w.Dims) {
			return "wrong", fmt.Errorf("%s has shape %v, want %v", name, blob.Shape(), w.Dims)
		}
	}
	if err := differs(n, want, nil); err == nil {
		return "right", nil
	}
	// Sums may cancel and functions be steep: values may differ by what a change of the inputs in their last bits makes.
	moved := map[string][]float64{}
	for draw := range 4 {
		near := map[string]*onnxtest.Tensor{}
		for name, v := range inputs {
			c := onnxtest.New(v.Dims...)
			for i, x := range v.Data {
				c.Data[i] = x * (1 + 1e-6*float64((i*7+draw*3)%5-2))
			}
			near[name] = c
		}
		other, err := o.Run(t, m, near)
		if err != nil {
			t.Fatal(err)
		}
		for name, w := range want {
			if moved[name] == nil {
				moved[name] = make([]float64, len(w.Data))
			}
			for i, v := range w.Data {
				moved[name][i] = max(moved[name][i], 5*math.Abs(other[name].Data[i]-v))
			}
		}
	}
	if err := differs(n, want, moved); err != nil {
		return "wrong", err
	}
	return "right", nil
}

// differs compares a net's blobs with values: to 1e-5 of the largest one, to 1e-6, and to what moves them.
func differs(n *swnet.Net, want map[string]*onnxtest.Tensor, moved map[string][]float64) error {
	for name, w := range want {
		got, largest := n.Blob(name).Data(), 0.0
		for _, v := range w.Data {
			if a := math.Abs(v); a > largest && !math.IsInf(a, 0) {
				largest = a
			}
		}
		for i, v := range w.Data {
			bound := 1e-5*largest + 1e-6 // what the nodes before made was of the order of 1
			if moved != nil {
				bound += moved[name][i]
			}
			g := float64(got[i])
			if g == v || math.IsNaN(g) && math.IsNaN(v) {
				continue
			}
			if d := math.Abs(g - v); !(d <= bound) {
				return fmt.Errorf("value %d of %s is %g, want %g; the largest is %g", i, name, g, v, largest)
			}
		}
	}
	return nil
}

// describe prints a graph's nodes.
func describe(m *onnxpb.ModelProto) string {
	var s strings.Builder
	fmt.Fprintf(&s, "opset %d\n", m.GetOpsetImport()[0].GetVersion())
	for _, in := range m.Graph.Input {
		fmt.Fprintf(&s, "  input %s %v\n", in.GetName(), in.GetType().GetTensorType().GetShape().GetDim())
	}
	for _, c := range m.Graph.Initializer {
		fmt.Fprintf(&s, "  constant %s %v", c.GetName(), c.GetDims())
		if c.GetDataType() == 7 {
			fmt.Fprintf(&s, " = %v", c.Int64Data)
		} else if len(c.FloatData) < 5 {
			fmt.Fprintf(&s, " = %v", c.FloatData)
		}
		s.WriteString("\n")
	}
	for _, n := range m.Graph.Node {
		fmt.Fprintf(&s, "  %v = %s(%v)", n.Output, n.GetOpType(), n.Input)
		for _, a := range n.Attribute {
			fmt.Fprintf(&s, " %s=%v%v%s%v", a.GetName(), a.Ints, a.Floats, a.S, map[bool]any{true: a.GetI(), false: a.GetF()}[a.GetType() == onnxpb.AttributeProto_INT])
		}
		s.WriteString("\n")
	}
	for _, out := range m.Graph.Output {
		fmt.Fprintf(&s, "  output %s\n", out.GetName())
	}
	return s.String()
}
