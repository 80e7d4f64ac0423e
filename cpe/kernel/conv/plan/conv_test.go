package plan_test

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

func TestConv(t *testing.T) {
	for _, s := range racing.Few(convtest.Shapes) {
		want := convtest.NewCase(s, kerneltest.Values)
		kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
			for _, st := range []shape.Strategy{shape.Explicit, shape.Implicit} {
				t.Run(st.String()+" "+s.String(), func(t *testing.T) { convtest.Compare(t, m, s, st, want) })
			}
		})
	}
}

// TestPublishedConv: the kernels of the original, of both years, compute the same, on small meshes and on one of 8 x 8 CPEs. Those of 2018 have
// the col2im of the source; that of the paper is the one of 2019.
func TestPublishedConv(t *testing.T) {
	for cpes, shapes := range map[[2]int][]shape.Conv{{1, 1}: convtest.Shapes, {2, 1}: convtest.FewShapes, {8, 8}: convtest.FewShapes} {
		for _, software := range []string{"swcaffe-source", "swcaffe-2019"} {
			spec := kerneltest.Published(t, software)
			spec.Rows, spec.Cols, spec.CoreGroups = cpes[0], cpes[1], 2
			m, err := cpe.New(spec, cpe.Functional)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			for _, s := range racing.Few(shapes) {
				want := convtest.NewCase(s, kerneltest.Values)
				for _, st := range []shape.Strategy{shape.Explicit, shape.Implicit} {
					t.Run(fmt.Sprintf("%s %v %v %v", software, cpes, st, s), func(t *testing.T) { convtest.Compare(t, m, s, st, want) })
				}
			}
		}
	}
}
