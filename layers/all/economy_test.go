package all_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestEveryTypeInAFrugalNet runs every layer type in a net that economises. The net has trained weights before the layer and a branch
// computed partly before it and partly after. Loss and gradients must equal those of a net without shared storage, in three iterations.
func TestEveryTypeInAFrugalNet(t *testing.T) {
	b := layertest.NewBench(t)
	for _, c := range cases {
		typ, err := layers.Find(c.Type)
		if err != nil {
			t.Fatal(err)
		}
		if typ.NoGradient || c.NoGradient != "" { // such cases have no loss, or are large
			continue
		}
		if c.Files != nil {
			c.Param += " " + c.Files(t)
		}
		text := around(typ, &c)
		for _, engine := range layertest.Engines() {
			var nets [2]*swnet.Net
			for i := range nets {
				opt := swnet.Options{State: swnet.MergeState(c.Phase), Device: b.Device(engine), Economise: i == 1}
				nets[i] = openWith(t, text, opt, c.Bottoms)
			}
			tolerance := 0.0
			if engine == layers.CPE { // fused layers may sum in another order
				tolerance = 3e-6
			}
			if err := sameTraining(nets[0], nets[1], tolerance); err != nil {
				t.Errorf("%s on %v: %v", &c, engine, err)
			}
		}
	}
}

// around returns that net's prototxt. Inputs with a gradient are scaled by a weight. The loss is the sum of squares of all tops with a
// gradient.
func around(typ layers.Type, c *layertest.Case) string {
	var s strings.Builder
	layer := func(name, typ, bottoms, tops, more string) {
		fmt.Fprintf(&s, "layer { name: %q type: %q%s%s %s }\n", name, typ, listed("bottom", bottoms), listed("top", tops), more)
	}
	const scalar = "scale_param { axis: 0 num_axes: 0 }"
	var bottoms, tops []string
	for j, in := range c.Bottoms {
		name := fmt.Sprintf("input%d", j)
		var dims strings.Builder
		for _, d := range in.Shape {
			fmt.Fprintf(&dims, "dim: %d ", d)
		}
		layer(name, "Input", "", name, "input_param { shape { "+dims.String()+"} }")
		if !in.NoGradient {
			layer("weight"+name, "Scale", name, "scaled"+name, scalar)
			name = "scaled" + name
		}
		bottoms = append(bottoms, name)
	}
	layer("side", "Scale", "input0", "side", scalar)
	layer("sigmoid", "Sigmoid", "side", "sigmoid", "")
	for k := range max(c.Tops, 1) {
		tops = append(tops, fmt.Sprintf("top%d", k))
	}
	if c.Tops < 0 {
		tops = nil
	}
	if c.InPlace {
		tops[0] = bottoms[0]
	}
	layer("layer", typ.Name, strings.Join(bottoms, " "), strings.Join(tops, " "), c.Param)
	layer("tanh", "TanH", "sigmoid", "tanh", "")
	layer("sideloss", "Power", "tanh", "sideloss", "power_param { power: 2 } loss_weight: 1")
	for k, top := range tops {
		if !typ.Loss && (c.GradTops == 0 || k < c.GradTops) {
			layer("square"+top, "Power", top, "square"+top, "power_param { power: 2 } loss_weight: 0.1")
		}
	}
	return s.String()
}

// listed returns a field for each name.
func listed(field, names string) string {
	var s strings.Builder
	for name := range strings.FieldsSeq(names) {
		fmt.Fprintf(&s, " %s: %q", field, name)
	}
	return s.String()
}

// openWith builds a net and fills its inputs like a case's bottoms.
func openWith(t *testing.T, text string, opt swnet.Options, bottoms []layertest.Bottom) *swnet.Net {
	t.Helper()
	p := &caffepb.NetParameter{}
	if _, err := swproto.UnmarshalText("net", []byte(text), p); err != nil {
		t.Fatal(err)
	}
	n, err := swnet.New(p, opt)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Cleanup(func() { n.Close() })
	r := rand.New(rand.NewPCG(7, 8))
	for i := range n.NumLayers() {
		var j int
		if _, err := fmt.Sscanf(n.LayerName(i), "input%d", &j); err != nil || n.LayerType(i) != "Input" {
			continue
		}
		fill := bottoms[j].Fill
		if fill == nil {
			fill = layertest.Uniform(-1, 1)
		}
		fill(r, n.Tops(i)[0].Data())
	}
	return n
}

func sameTraining(plain, frugal *swnet.Net, tolerance float64) error {
	same := func(got, want float64) bool {
		return got == want || math.Abs(got-want) <= tolerance*(1+math.Abs(want)) || got != got && want != want
	}
	for range 3 {
		want, err := plain.ForwardBackward()
		if err != nil {
			return err
		}
		loss, err := frugal.ForwardBackward()
		if err != nil || !same(loss, want) {
			return fmt.Errorf("loss %g, error %v; %g where blobs have storage of their own", loss, err, want)
		}
		for k, l := range plain.Learnable() {
			got := frugal.Learnable()[k].Blob.Diff()
			for i, w := range l.Blob.Diff() {
				if !same(float64(got[i]), float64(w)) {
					return fmt.Errorf("gradient of layer %q, element %d: %g, %g where blobs have storage of their own", l.Layer, i, got[i], w)
				}
			}
		}
	}
	return nil
}
