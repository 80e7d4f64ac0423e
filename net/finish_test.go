package net

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/net/schedule"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func pointwiseOf(name, bottom string, channels int) string {
	return fmt.Sprintf(`
	layer { name: %q type: "Convolution" bottom: %q top: %[1]q convolution_param { num_output: %[3]d kernel_size: 1 weight_filler { type: "msra" } } }`, name, bottom, channels)
}

// normOf returns BatchNorm and Scale layers from bottom to top.
func normOf(bottom, top string) string {
	return fmt.Sprintf(`
	layer { name: "bn_%[2]s" type: "BatchNorm" bottom: %[1]q top: %[2]q }
	layer { name: "scale_%[2]s" type: "Scale" bottom: %[2]q top: %[2]q scale_param { bias_term: true filler { type: "gaussian" } bias_filler { type: "gaussian" } } }`, bottom, top)
}

func reluIn(blob string) string {
	return fmt.Sprintf(`
	layer { name: "relu_%[1]s" type: "ReLU" bottom: %[1]q top: %[1]q }`, blob)
}

// actOf returns an activation layer.
func actOf(kind, bottom, top string) string {
	return fmt.Sprintf(`
	layer { name: "act_%[3]s" type: %[1]q bottom: %[2]q top: %[3]q }`, kind, bottom, top)
}

func sumOf(a, b, top string) string {
	return fmt.Sprintf(`
	layer { name: %[3]q type: "Eltwise" bottom: %[1]q bottom: %[2]q top: %[3]q }`, a, b, top)
}

// TestFinishedByTheConvolution: in nets for Forward only, convolutions also normalise, add and activate their results, unless that is
// visible outside and nothing is folded. Results have the bits of other nets whose convolutions have the same algorithms, also if a blob between is requested later.
func TestFinishedByTheConvolution(t *testing.T) {
	const data = `
	layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 3 dim: 32 dim: 13 dim: 11 } data_filler { type: "gaussian" } } }
	layer { name: "p" type: "Convolution" bottom: "x" top: "t" convolution_param { num_output: 48 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }`
	const end = `
	layer { name: "last" type: "Pooling" bottom: "s" top: "out" pooling_param { pool: AVE global_pooling: true } }`
	for _, tt := range []struct {
		name, net string
		finished  []string
	}{
		{"in place", pointwiseOf("s", "t", 64) + normOf("s", "s") + reluIn("s"), []string{"s"}},
		{"without ReLU", pointwiseOf("c", "t", 64) + normOf("c", "s"), []string{"c"}},
		{"sum", pointwiseOf("c", "t", 48) + normOf("c", "n") + sumOf("n", "t", "s") + reluIn("s"), []string{"c"}},
		{"sum of what comes later", pointwiseOf("c", "t", 64) + normOf("c", "n") + pointwiseOf("d", "t", 64) + normOf("d", "e") + sumOf("n", "e", "s"), []string{"c", "d"}},
		{"sum of what comes between", pointwiseOf("c", "t", 64) + pointwiseOf("d", "t", 64) + normOf("d", "e") + normOf("c", "n") + sumOf("n", "e", "s"), []string{"d"}},
		{"3x3", `layer { name: "s" type: "Convolution" bottom: "t" top: "s" convolution_param { num_output: 32 kernel_size: 3 weight_filler { type: "msra" } } }` + normOf("s", "s"), []string{"s"}},
		{"PReLU", pointwiseOf("s", "t", 64) + actOf("PReLU", "s", "s"), []string{"s"}},
		{"PReLU and a sum", pointwiseOf("c", "t", 48) + actOf("PReLU", "c", "c") + sumOf("t", "c", "s"), []string{"c"}},
		{"a sum and PReLU", pointwiseOf("c", "t", 48) + sumOf("c", "t", "n") + actOf("PReLU", "n", "s"), []string{"c"}},
		{"norm, ReLU6, sum, ELU", pointwiseOf("c", "t", 48) + normOf("c", "c") + actOf("ReLU6", "c", "n") + sumOf("n", "t", "m") + actOf("ELU", "m", "s"), []string{"c"}},
		{"depthwise", `layer { name: "s" type: "Convolution" bottom: "t" top: "s" convolution_param { num_output: 48 group: 48 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }` + actOf("HardSwish", "s", "s"), []string{"s"}},
		{"by planes", pointwiseOf("s", "t", 20) + normOf("s", "s"), []string{"s"}},
		{"silenced", pointwiseOf("s", "t", 64) + pointwiseOf("d", "t", 64) + `layer { name: "silence" type: "Silence" bottom: "d" }`, nil},
		{"read twice", pointwiseOf("c", "t", 48) + normOf("c", "n") + sumOf("n", "c", "s"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			open := func(forward bool) *Net {
				return buildWith(t, data+tt.net+end, func(o *Options) {
					o.State, o.Economise, o.ForwardOnly = MergeState(caffepb.Phase_TEST), true, forward
					o.Without = []string{"fold"}
				})
			}
			n, whole := open(true), open(false)
			for _, m := range []*Net{n, whole} {
				m.fillStatistics()
			}
			var finished []string
			for range 2 {
				sameOutput(t, n, whole)
				finished = n.finishedNow(t)
				if !slices.Equal(finished, tt.finished) {
					t.Errorf("finished are %q, want %q", finished, tt.finished)
				}
			}
			for _, name := range tt.finished {
				if n.ids[name] == n.graph.Outputs[0] {
					continue
				}
				between, want := n.Blob(name), whole.Blob(name)
				sameOutput(t, n, whole)
				if !slices.Equal(between.Data(), want.Data()) {
					t.Errorf("%q, asked for by name, is not what the convolution made", name)
				}
			}
		})
	}
}

// fillStatistics sets the means and variances of BatchNorm layers.
func (n *Net) fillStatistics() {
	for _, d := range n.nodes {
		if d.param.GetType() != "BatchNorm" {
			continue
		}
		mean, variance, factor := d.Params()[0].Data(), d.Params()[1].Data(), d.Params()[2].Data()
		for i := range mean {
			mean[i], variance[i] = float32(i%7)/10-0.3, 0.5+float32(i%5)/4
		}
		factor[0] = 1
	}
}

// finishedNow lists the convolutions that have done the next layer's Forward. Repeating that layer in place would change the values.
func (n *Net) finishedNow(t *testing.T) []string {
	var names []string
	for i, task := range n.plan.Tasks {
		if len(task.Arranged.Steps) == 0 {
			continue
		}
		d, next := n.nodes[i], n.readerOf(i)
		values := next.Tops[0].Data()
		for i := range values {
			values[i] = float32(i%9) - 4
		}
		was := slices.Clone(values)
		if err := next.Forward(); err != nil {
			t.Fatal(err)
		}
		if slices.Equal(values, was) {
			names = append(names, d.param.GetName())
		}
	}
	return names
}

// readerOf returns the task that reads the first top of node i.
func (n *Net) readerOf(i int) *schedule.Task {
	at := slices.IndexFunc(n.plan.Tasks, func(t *schedule.Task) bool { return slices.Contains(t.Bottoms, n.plan.Tasks[i].Tops[0]) })
	return n.plan.Tasks[at]
}

func sameOutput(t *testing.T, n, want *Net) {
	t.Helper()
	for _, m := range []*Net{n, want} {
		if _, err := m.Forward(); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := n.Outputs()[0].Blob.Data(), want.Outputs()[0].Blob.Data(); !slices.Equal(got, want) || slices.Max(got) == slices.Min(got) {
		t.Fatalf("results are %v, want %v", got[:4], want[:4])
	}
}

// TestFinishedOnSharedData: layers in place on a blob that has another one's data, as behind a Flatten, give the results of a net that arranges nothing, whatever reads them.
func TestFinishedOnSharedData(t *testing.T) {
	const data = `
	layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 3 dim: 5 dim: 6 dim: 4 } data_filler { type: "gaussian" } } }
	layer { name: "t" type: "Convolution" bottom: "x" top: "t" convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "msra" } } }`
	sharing := map[string]string{
		"Flatten": `layer { name: "f" type: "Flatten" bottom: "t" top: "f" }`,
		"Reshape": `layer { name: "f" type: "Reshape" bottom: "t" top: "f" reshape_param { shape { dim: 0 dim: 8 dim: -1 } } }`,
		"Split":   `layer { name: "f" type: "Split" bottom: "t" top: "f" top: "g" } layer { name: "silence" type: "Silence" bottom: "g" }`,
		"Concat":  `layer { name: "f" type: "Concat" bottom: "t" top: "f" }`,
		"nothing": `layer { name: "f" type: "Power" bottom: "t" top: "f" power_param { scale: 1.5 } }`,
	}
	middles := map[string]string{
		"Scale":             `layer { name: "m" type: "Scale" bottom: "f" top: "f" scale_param { bias_term: true filler { type: "gaussian" } bias_filler { type: "gaussian" } } }`,
		"Bias":              `layer { name: "m" type: "Bias" bottom: "f" top: "f" bias_param { filler { type: "gaussian" } } }`,
		"BatchNorm":         `layer { name: "m" type: "BatchNorm" bottom: "f" top: "f" }`,
		"BatchNorm, Scale":  normOf("f", "f"),
		"PReLU":             actOf("PReLU", "f", "f"),
		"Scale, then ReLU6": `layer { name: "m" type: "Scale" bottom: "f" top: "f" scale_param { filler { type: "gaussian" } } }` + actOf("ReLU6", "f", "f"),
	}
	lasts := map[string]string{"sum": sumOf("f", "f", "y"), "BatchNorm, Scale": normOf("f", "y"), "Softmax": actOf("Softmax", "f", "y")}
	for _, kind := range []string{"ReLU", "TanH", "Sigmoid", "ELU", "PReLU", "Power", "AbsVal", "HardSwish", "Dropout"} {
		lasts[kind] = actOf(kind, "f", "y")
	}
	for share, first := range sharing {
		for middle, second := range middles {
			for last, third := range lasts {
				t.Run(share+"/"+middle+"/"+last, func(t *testing.T) {
					open := func(arranged bool, without ...string) *Net {
						n := buildWith(t, data+first+second+third, func(o *Options) {
							o.State, o.Economise, o.ForwardOnly, o.Without = MergeState(caffepb.Phase_TEST), arranged, arranged, without
						})
						n.fillStatistics()
						if _, err := n.Forward(); err != nil {
							t.Fatal(err)
						}
						return n
					}
					want := open(false).Blob("y").Data()
					for _, n := range []*Net{open(true), open(true, "fold")} {
						for i, got := range n.Blob("y").Data() {
							if d := got - want[i]; !(d < 1e-4 && d > -1e-4) {
								t.Fatalf("value %d is %g, without passes %g", i, got, want[i])
							}
						}
					}
				})
			}
		}
	}
}
