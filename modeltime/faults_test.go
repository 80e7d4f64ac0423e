package modeltime

import (
	"errors"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "FaultyKernel", Doc: "runs a kernel that is wrong",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &faulty{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// faulty is a layer whose kernel waits for what nobody sends, or, if it is called so, takes more LDM than there is.
type faulty struct{ layers.Base }

func (l *faulty) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *faulty) Reshape(bottom, top []*blob.Blob) error {
	top[0].ReshapeLike(bottom[0])
	return nil
}

func (l *faulty) Forward(_, _ []*blob.Blob) error { return l.Device.Machine.Run(l, 1) }

func (l *faulty) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

// Name and RunGroup make the layer its own kernel.
func (l *faulty) Name() string { return "exchange" }

func (l *faulty) RunGroup(g *cpe.CoreGroup) error {
	c := g.CPEs()[11]
	if l.Param.GetName() == "greedy" {
		_, err := c.Alloc("exchange", 16385)
		return err
	}
	_, err := c.RowReceive("exchange")
	return err
}

// TestFaultsNameLayerAndCPE: a receive that nobody sends for and an LDM that overflows are errors, in both modes, which say in which
// layer, on which CPE and over how many bytes.
func TestFaultsNameLayerAndCPE(t *testing.T) {
	for name, want := range map[string][]string{
		"waiting": {`"waiting"`, "CPE (1,3)", "nobody sends"},
		"greedy":  {`"greedy"`, "CPE (1,3)", "65540 bytes", "65536"},
	} {
		for _, mode := range []cpe.Mode{cpe.Functional, cpe.CostOnly} {
			o := options(t)
			o.Mode = mode
			_, err := Run(readNet(t, `
layer { name: "data" type: "DummyData" top: "data" dummy_data_param { shape { dim: 4 dim: 4 } } }
layer { name: "`+name+`" type: "FaultyKernel" bottom: "data" top: "top" }
`), o)
			if err == nil {
				t.Fatalf("%s, %v: no error", name, mode)
			}
			for _, part := range want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v: %q does not contain %q", mode, err, part)
				}
			}
			var dead *cpe.DeadlockError
			if name == "waiting" && !errors.As(err, &dead) {
				t.Errorf("%v is no DeadlockError", err)
			}
		}
	}
}
