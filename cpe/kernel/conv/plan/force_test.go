package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestParseForce: families and algorithms are taken by their names, and an error suggests the nearest of both, or lists them.
func TestParseForce(t *testing.T) {
	for _, st := range shape.Strategies {
		if f, err := plan.ParseForce(st.String()); err != nil || f != (op.Force{Family: st}) || f.String() != st.String() {
			t.Errorf("%v: %+v, %v", st, f, err)
		}
	}
	for _, name := range plan.Algorithms() {
		if f, err := plan.ParseForce(name); err != nil || f != (op.Force{Name: name}) || f.String() != name {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	for text, near := range map[string]string{"winogard2": "winograd2", "implicit-paded": "implicit-padded"} {
		if _, err := plan.ParseForce(text); err == nil || err.Error() != `unknown strategy "`+text+`", did you mean "`+near+`"?` {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := plan.ParseForce("quixotic"); err == nil || !strings.HasPrefix(err.Error(), `unknown strategy "quixotic" (strategies and algorithms: auto, explicit, `) {
		t.Errorf("no name is near: %v", err)
	}
}

// TestForceByName: every algorithm that does not refuse a direction computes it where it is asked for by its name, with right results; where it
// refuses, the choice is that of the cost model.
func TestForceByName(t *testing.T) {
	shapes := append(slices.Clone(convtest.Shapes[:6]), convtest.Shape2D(1, 4, 4, 4, 8, 8, 3, 3, 1, 2, 2), convtest.Shape2D(2, 3, 4, 1, 5, 5, 1, 1, 2, 0, 1),
		convtest.Shape2D(5, 2, 70, 1, 3, 3, 3, 3, 1, 0, 1), convtest.Shape2D(2, 3, 32, 1, 23, 24, 11, 11, 4, 2, 1), convtest.Shape2D(16, 16, 16, 1, 8, 8, 3, 3, 1, 1, 1), convtest.Shapes[20])
	m := kerneltest.HostMachine(t, 2)
	used := map[string]bool{}
	for _, s := range shapes {
		auto := convtest.New(t, m, s, shape.Auto)
		for _, name := range plan.Algorithms() {
			c, err := plan.NewForced(m, s, op.Force{Name: name})
			if err != nil {
				t.Fatalf("%v, %s: %v", s, name, err)
			}
			any := false
			for d := range shape.Direction(3) {
				want := auto.Chosen(d).Name
				if c.Refuses(d, name) == nil {
					want, any, used[name] = name, true, true
				}
				if got := c.Chosen(d).Name; got != want {
					t.Errorf("%v of %v: %s, want %s", d, s, got, want)
				}
			}
			if !any {
				continue
			}
			again, err := c.ForShape(s)
			if err != nil {
				t.Fatal(err)
			}
			for d := range shape.Direction(3) {
				if c.Chosen(d) != again.Chosen(d) {
					t.Errorf("%v of %v again: %s, not %s", d, s, again.Chosen(d).Name, c.Chosen(d).Name)
				}
			}
			want := convtest.NewCase(s, kerneltest.Values)
			y, dx := want.Run(t, c)
			convtest.NearWinograd(t, name+": y", y, want.WantY, 4*len(want.W)/s.Out)
			convtest.NearWinograd(t, name+": dx", dx, want.WantDX, 4*len(want.W)/s.C)
		}
	}
	for _, a := range plan.List() {
		if suffixed(a.Name) != a.Types.Suffix() {
			t.Errorf("%s computes in %v", a.Name, a.Types)
		}
		switch byModel := strings.HasPrefix(a.Name, "mesh-"); {
		case byModel, a.Family.IsWinograd(), used[a.Name], a.Types != op.Types{}:
		case slices.Contains([]string{"nothing", "pointwise-blocked", "pointwise-blocked-weights", "pointwise-planes", "explicit-batched"}, a.Name):
			// for empty problems, images in blocks of channels, nets for inference, and a modelled machine
		default:
			t.Errorf("no shape is computed with %s", a.Name)
		}
	}
}

// TestForceByNameOnModel: the algorithms of modelled machines are taken by name as well, those of the host are not.
func TestForceByNameOnModel(t *testing.T) {
	m, s := kerneltest.Machine(t, "sw26010", true), convtest.Shape2D(4, 64, 64, 1, 16, 16, 3, 3, 1, 1, 1)
	for name, want := range map[string]string{"mesh-batch": "mesh-batch", "winograd4-mesh": "winograd4-mesh", "explicit-gemm": "explicit-gemm", "implicit-padded": ""} {
		c, err := plan.NewForced(m, s, op.Force{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = convtest.New(t, m, s, shape.Auto).Chosen(shape.Forward).Name
		}
		if got := c.Algorithm(shape.Forward); got != shape.Algorithm(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestForceLayouts: a named algorithm decides how images and results may lie, and is not replaced by one that pools results as well.
func TestForceLayouts(t *testing.T) {
	m := kerneltest.HostMachine(t, 2)
	pointwise := convtest.Shape2D(3, 32, 32, 1, 9, 10, 1, 1, 1, 0, 1)
	for name, want := range map[string]bool{"pointwise-blocked": true, "implicit-pointwise": false} {
		c, err := plan.NewForced(m, pointwise, op.Force{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if in, out := c.Blocks(); in != want || out != want {
			t.Fatalf("%s: images and results in blocks: %v %v, want %v", name, in, out, want)
		}
		if err := c.SetLayouts(shape.InBlocks(want), shape.InBlocks(want)); err != nil {
			t.Fatal(err)
		}
		if got := c.Algorithm(shape.Forward); got != shape.Algorithm(name) {
			t.Errorf("%s computes, not %s", got, name)
		}
	}
	few := convtest.PooledConvs[1]
	p, _ := convtest.PooledShape(few, [3]int{2, 2, 0}, false)
	for name, want := range map[string]bool{"": true, "offsets": false, "implicit-padded": false, "thinned": true} {
		c, err := plan.NewForced(m, few, op.Force{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if fused, err := c.Pooled(p); err != nil || (fused != nil) != want {
			t.Errorf("%q: pooled in one pass: %v, %v, want %v", name, fused != nil, err, want)
		}
	}
}

// suffixed returns the end of a name that stands for number types, "" for none.
func suffixed(name string) string {
	for _, t := range []op.Types{op.RoundedFactors, op.Quantised} {
		if strings.HasSuffix(name, t.Suffix()) {
			return t.Suffix()
		}
	}
	return ""
}
