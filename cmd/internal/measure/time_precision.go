package measure

import (
	"fmt"
	"io"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// precisions are the number types of algorithms and what tables call them.
var precisions = []struct {
	types op.Types
	name  string
}{{op.RoundedFactors, cpe.BF16}, {op.Quantised, cpe.INT8}, {op.Types{}, cpe.FP32}}

// precisionOf returns what tables call the number types of an algorithm.
func precisionOf(algorithm string) string {
	for _, p := range precisions {
		if strings.HasSuffix(algorithm, p.types.Suffix()) {
			return p.name
		}
	}
	return cpe.FP32
}

// rounds reports whether any layer of a net rounds factors of products.
func rounds(n *swnet.Net) bool {
	for i := range n.NumLayers() {
		for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient} {
			if precisionOf(string(n.Algorithm(i, d))) != cpe.FP32 {
				return true
			}
		}
	}
	return false
}

// printPrecision prints, for each direction, the layers with weights whose factors are rounded, and those that compute in fp32, with their algorithms.
func printPrecision(w io.Writer, n *swnet.Net) error {
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient} {
		lists := map[string][]string{}
		for i := range n.NumLayers() {
			algorithm := string(n.Algorithm(i, d))
			if _, ok := n.Layer(i).(layers.Algorithmic); !ok || algorithm == "" || len(n.Layer(i).Params()) == 0 {
				continue
			}
			name, precision := n.LayerName(i), precisionOf(algorithm)
			if precision == cpe.FP32 {
				name = fmt.Sprintf("%s (%s)", name, algorithm)
			}
			lists[precision] = append(lists[precision], name)
		}
		for _, p := range precisions {
			if len(lists[p.name]) == 0 {
				continue
			}
			if _, err := fmt.Fprintf(w, "precision: %v in %s: %s\n", d, p.name, strings.Join(lists[p.name], ", ")); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(w, "precision: all other layers, sums, biases, activations and results in fp32")
	return err
}
