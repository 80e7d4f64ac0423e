package validation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestShares prints what every mechanism is worth with the software of 2018: seconds of some of table II's convolutions and
// AlexNet's images/s without it. Each but those that these figures cannot show changes at least one of them.
func TestShares(t *testing.T) {
	var out strings.Builder
	first := shares(t, "")
	fmt.Fprintf(&out, "%-14s %s\n", "all", first)
	for _, name := range cpe.Mechanisms() {
		// Those of swcaffe-source, swcaffe-2019 and sw39000; see TestGroupedLines, TestLineNorm and, in package gemm, TestChaining.
		if name == "grouping" || name == "line_norm" || name == "chaining" {
			continue
		}
		line := shares(t, name)
		fmt.Fprintf(&out, "%-14s %s\n", "without "+name, line)
		if line == first {
			t.Errorf("leaving %s out changes nothing", name)
		}
	}
	t.Logf("conv1_1, conv2_2, conv3_2 forward explicit; conv3_2 forward and weights implicit (s); alexnet_bn (images/s)\n%v", &out)
}

func shares(t *testing.T, without string) string {
	t.Helper()
	problem := func(c, out, size int) shape.Conv {
		one := []int{1, 1}
		return shape.Conv{N: 128, C: c, Out: out, Group: 1, In: []int{size, size}, Kernel: []int{3, 3}, Stride: one, Pad: one, Dilation: one}
	}
	one, four := sw26010(t, 1, in2018), sw26010(t, 4, in2018)
	if without != "" {
		for _, s := range []*cpe.Spec{&one, &four} {
			var err error
			if *s, err = s.Without(without); err != nil {
				t.Fatal(err)
			}
		}
	}
	var line strings.Builder
	for _, c := range []struct {
		shape.Conv
		shape.Strategy
		shape.Direction
	}{
		{problem(3, 64, 224), shape.Explicit, shape.Forward}, {problem(128, 128, 112), shape.Explicit, shape.Forward},
		{problem(256, 256, 56), shape.Explicit, shape.Forward}, {problem(256, 256, 56), shape.Implicit, shape.Forward},
		{problem(256, 256, 56), shape.Implicit, shape.WeightGradient},
	} {
		fmt.Fprintf(&line, "%7.3f", convSeconds(t, one, c.Conv, c.Strategy, c.Direction))
	}
	fmt.Fprintf(&line, "%8.1f", modelled(t, "alexnet_bn", 256, four).Total.Images)
	return line.String()
}
