package modeltime

import (
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

// faulty is a layer whose kernel takes more LDM than there is.
type faulty struct{ layers.Base }

func (l *faulty) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *faulty) Reshape(bottom, top []*blob.Blob) error {
	top[0].ReshapeLike(bottom[0])
	return nil
}

func (l *faulty) Forward(_, _ []*blob.Blob) error { return l.Device.Machine.Run(l, 1) }

func (l *faulty) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

// Name and RunGroup make the layer its own kernel.
func (l *faulty) Name() string { return "greedy" }

func (l *faulty) RunGroup(g *cpe.CoreGroup) error {
	_, err := g.CPEs()[11].Alloc("greedy", 16385)
	return err
}

// TestFaultsNameLayerAndCPE: an LDM that overflows is an error, in both modes, which says in which layer, on which CPE and over how
// many bytes.
func TestFaultsNameLayerAndCPE(t *testing.T) {
	for _, mode := range []cpe.Mode{cpe.Functional, cpe.CostOnly} {
		o := options(t)
		o.Mode = mode
		_, err := Run(readNet(t, `
layer { name: "data" type: "DummyData" top: "data" dummy_data_param { shape { dim: 4 dim: 4 } } }
layer { name: "greedy" type: "FaultyKernel" bottom: "data" top: "top" }
`), o)
		if err == nil {
			t.Fatalf("%v: no error", mode)
		}
		for _, part := range []string{`"greedy"`, "CPE (1,3)", "65540 bytes", "65536"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v: %q does not contain %q", mode, err, part)
			}
		}
	}
}

// TestLargeBatches: a batch that a data layer's field would cut off is an error, not another batch.
func TestLargeBatches(t *testing.T) {
	net := readNet(t, small)
	o := options(t)
	large := int64(1<<32 + 2)
	if o.Batch = int(large); int64(o.Batch) != large {
		t.Skip("int has 32 bits, as the field")
	}
	const want = "a batch of 4294967298 images is too large: at most 2147483647"
	if _, err := Run(net, o); err == nil || err.Error() != want {
		t.Errorf("Run: %v, want %s", err, want)
	}
	if _, err := Measure(net, SizeOptions{State: o.State, Batch: o.Batch}); err == nil || err.Error() != want {
		t.Errorf("Measure: %v, want %s", err, want)
	}
}
