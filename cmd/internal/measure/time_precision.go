package measure

import (
	"fmt"
	"io"
	"strings"

	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// printPrecision prints, for each direction, the layers with weights whose factors are rounded to bfloat16, and those that compute in fp32 although
// -precision permits rounding, with their algorithms.
func printPrecision(w io.Writer, n *swnet.Net) error {
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient} {
		var rounded, whole []string
		for i := range n.NumLayers() {
			name := string(n.Algorithm(i, d))
			if _, ok := n.Layer(i).(layers.Algorithmic); !ok || name == "" || len(n.Layer(i).Params()) == 0 {
				continue
			}
			if strings.HasSuffix(name, op.RoundedSuffix) {
				rounded = append(rounded, n.LayerName(i))
			} else {
				whole = append(whole, fmt.Sprintf("%s (%s)", n.LayerName(i), name))
			}
		}
		for _, list := range []struct {
			precision string
			names     []string
		}{{"bf16", rounded}, {"fp32", whole}} {
			if len(list.names) == 0 {
				continue
			}
			if _, err := fmt.Fprintf(w, "precision: %v in %s: %s\n", d, list.precision, strings.Join(list.names, ", ")); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(w, "precision: all other layers, sums, biases, activations and results in fp32")
	return err
}
