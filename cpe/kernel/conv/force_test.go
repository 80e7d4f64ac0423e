package conv

import (
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestParseForce: families and algorithms are taken by their names, and an error suggests the nearest of both.
func TestParseForce(t *testing.T) {
	for _, st := range shape.Strategies {
		if f, err := ParseForce(st.String()); err != nil || f != (Force{Family: st}) || f.String() != st.String() {
			t.Errorf("%v: %+v, %v", st, f, err)
		}
	}
	for _, name := range Algorithms() {
		if f, err := ParseForce(name); err != nil || f != (Force{Name: name}) || f.String() != name {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	for text, near := range map[string]string{"winogard2": "winograd2", "implicit-paded": "implicit-padded"} {
		if _, err := ParseForce(text); err == nil || !strings.HasPrefix(err.Error(), `unknown strategy "`+text+`", did you mean "`+near+`"? (strategies and algorithms: auto, explicit, `) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestForceByName: every algorithm that does not refuse a direction computes it where it is asked for by its name, with right results; where it
// refuses, the choice is that of the cost model.
func TestForceByName(t *testing.T) {
	shapes := append(slices.Clone(convShapes[:6]), conv2(1, 4, 4, 4, 8, 8, 3, 3, 1, 2, 2), conv2(2, 3, 4, 1, 5, 5, 1, 1, 2, 0, 1),
		conv2(5, 2, 70, 1, 3, 3, 3, 3, 1, 0, 1), conv2(2, 3, 32, 1, 23, 24, 11, 11, 4, 2, 1), conv2(16, 16, 16, 1, 8, 8, 3, 3, 1, 1, 1), convShapes[20])
	m := kerneltest.HostMachine(t, 2)
	used := map[string]bool{}
	for _, s := range shapes {
		auto := newConv(t, m, s, shape.Auto)
		for _, name := range Algorithms() {
			c, err := NewForced(m, s, Force{Name: name})
			if err != nil {
				t.Fatalf("%v, %s: %v", s, name, err)
			}
			any := false
			for d := range shape.Direction(3) {
				want := auto.does[d].algorithm.Name
				if c.Refuses(d, name) == nil {
					want, any, used[name] = name, true, true
				}
				if got := c.does[d].algorithm.Name; got != want {
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
				if c.does[d].algorithm != again.does[d].algorithm {
					t.Errorf("%v of %v again: %s, not %s", d, s, again.does[d].algorithm.Name, c.does[d].algorithm.Name)
				}
			}
			want := newConvCase(s, kerneltest.Values)
			y, dx := want.run(t, c)
			nearWinograd(t, name+": y", y, want.wantY, 4*len(want.w)/s.Out)
			nearWinograd(t, name+": dx", dx, want.wantDX, 4*len(want.w)/s.C)
		}
	}
	for _, a := range algorithms {
		switch byModel := strings.HasPrefix(a.Name, "mesh-"); {
		case byModel, a.Family.IsWinograd(), used[a.Name]:
		case slices.Contains([]string{"nothing", "pointwise-blocked", "pointwise-blocked-weights", "explicit-batched"}, a.Name):
			// for empty problems, images in blocks of channels, and a modelled machine
		default:
			t.Errorf("no shape is computed with %s", a.Name)
		}
	}
}

// TestForceByNameOnModel: the algorithms of modelled machines are taken by name as well, those of the host are not.
func TestForceByNameOnModel(t *testing.T) {
	m, s := kerneltest.Machine(t, "sw26010", true), conv2(4, 64, 64, 1, 16, 16, 3, 3, 1, 1, 1)
	for name, want := range map[string]string{"mesh-batch": "mesh-batch", "winograd4-mesh": "winograd4-mesh", "explicit-gemm": "explicit-gemm", "implicit-padded": ""} {
		c, err := NewForced(m, s, Force{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = newConv(t, m, s, shape.Auto).does[shape.Forward].algorithm.Name
		}
		if got := c.Algorithm(shape.Forward); got != shape.Algorithm(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestForceLayouts: a named algorithm decides how images and results may lie, and is not replaced by one that pools results as well.
func TestForceLayouts(t *testing.T) {
	m := kerneltest.HostMachine(t, 2)
	pointwise := conv2(3, 32, 32, 1, 9, 10, 1, 1, 1, 0, 1)
	for name, want := range map[string]bool{"pointwise-blocked": true, "implicit-pointwise": false} {
		c, err := NewForced(m, pointwise, Force{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if in, out := c.Blocks(); in != want || out != want {
			t.Fatalf("%s: images and results in blocks: %v %v, want %v", name, in, out, want)
		}
		if err := c.SetLayouts(InBlocks(want), InBlocks(want)); err != nil {
			t.Fatal(err)
		}
		if got := c.Algorithm(shape.Forward); got != shape.Algorithm(name) {
			t.Errorf("%s computes, not %s", got, name)
		}
	}
	few := pooledConvs[1]
	p, _ := pooledShape(few, [3]int{2, 2, 0}, false)
	for name, want := range map[string]bool{"": true, "offsets": false, "implicit-padded": false, "thinned": true} {
		c, err := NewForced(m, few, Force{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if pooled, err := c.Pooled(p); err != nil || (pooled != nil) != want {
			t.Errorf("%q: pooled in one pass: %v, %v, want %v", name, pooled != nil, err, want)
		}
	}
}
