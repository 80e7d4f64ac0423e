package modeltime

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// Division says how a program of one pass through a layer divides its work among the cores of a native machine.
type Division struct {
	Layer   string
	Type    string
	Pass    string // forward or backward
	Program string
	Runs    int // consecutive runs that divide work alike
	Cores   int // that the program asks for
	Units   []cpe.Units
	Longest float64 // the longest core's part over the mean of all cores, if all units take as long
}

// Survey plans a net for a native machine of any number of cores, with the passes over its tasks that train and test run, and returns how its
// programs divide their work, in the order in which they run. Nothing is computed, so that the batch may be large. forwardOnly: in inference.
func Survey(file *swproto.Net, o Options, forwardOnly bool) (list []Division, err error) {
	o.economise, o.forwardOnly = true, forwardOnly
	err = o.with(file, cpe.Surveyed, func(m *cpe.Machine, n *swnet.Net) error {
		at := Division{}
		m.Survey(func(w *cpe.Work) {
			if last := len(list) - 1; last >= 0 && list[last].repeats(&at, w) {
				list[last].Runs++
				return
			}
			d := at
			d.Program, d.Runs, d.Cores, d.Units, d.Longest = w.Program, 1, w.Groups, slices.Clone(w.Units), w.Longest(o.Spec.CoreGroups)
			list = append(list, d)
		})
		defer m.Survey(nil)
		for i := range n.NumLayers() {
			at = Division{Layer: n.LayerName(i), Type: n.LayerType(i), Pass: "forward"}
			if _, err := n.ForwardLayer(i); err != nil {
				return err
			}
		}
		for i := n.NumLayers() - 1; i >= 0 && !forwardOnly; i-- {
			at = Division{Layer: n.LayerName(i), Type: n.LayerType(i), Pass: "backward"}
			if err := n.BackwardLayer(i); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// repeats reports whether w is another run of the program, in the pass at.
func (d *Division) repeats(at *Division, w *cpe.Work) bool {
	return d.Layer == at.Layer && d.Pass == at.Pass && d.Program == w.Program && d.Cores == w.Groups && slices.Equal(d.Units, w.Units)
}
