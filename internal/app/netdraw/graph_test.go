package netdraw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"gonum.org/v1/plot/vg"
)

var train, test = &caffepb.NetState{Phase: caffepb.Phase_TRAIN.Enum()}, &caffepb.NetState{Phase: caffepb.Phase_TEST.Enum()}

func graphOf(t *testing.T, text string, states ...*caffepb.NetState) *Graph {
	t.Helper()
	var p caffepb.NetParameter
	if _, err := swproto.UnmarshalText("net.prototxt", []byte(text), &p); err != nil {
		t.Fatal(err)
	}
	g, err := New(&p, Options{States: states, RankDir: "TB"})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// structure prints a graph: boxes as the names of their layers, arrows with their blobs, and parts of only one phase in brackets.
func structure(g *Graph) []string {
	name := func(b *box) string {
		var names []string
		for _, l := range b.layers {
			names = append(names, l.GetName())
		}
		return strings.Join(names, "+")
	}
	bracket := func(s, only string) string {
		if only == "" {
			return s
		}
		return fmt.Sprintf("%s [%s]", s, only)
	}
	var list []string
	for _, b := range g.boxes {
		list = append(list, bracket(name(b), g.only(b.phases)))
	}
	for _, a := range g.arrows {
		list = append(list, bracket(fmt.Sprintf("%s -%s> %s", name(g.boxes[a.from]), a.blob, name(g.boxes[a.to])), g.only(a.phases)))
	}
	return list
}

const twoPhases = `
layer { name: "train" type: "Data" top: "x" top: "label" include { phase: TRAIN } }
layer { name: "test" type: "Data" top: "x" top: "label" include { phase: TEST } }
layer { name: "quick" type: "Data" top: "x" top: "label" include { stage: "quick" } }
layer { name: "conv" type: "Convolution" bottom: "x" top: "conv" convolution_param { num_output: 8 kernel_size: 3 } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "drop" type: "Dropout" bottom: "conv" top: "conv" exclude { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "conv" bottom: "label" }
layer { name: "acc" type: "Accuracy" bottom: "conv" bottom: "label" include { phase: TEST } }`

func TestStructure(t *testing.T) {
	for _, c := range []struct {
		name, net string
		states    []*caffepb.NetState
		want      []string
	}{
		{"one phase", twoPhases, []*caffepb.NetState{train}, []string{
			"train", "conv+relu+drop", "loss",
			"train -x> conv+relu+drop", "conv+relu+drop -conv> loss", "train -label> loss",
		}},
		{"both phases", twoPhases, []*caffepb.NetState{train, test}, []string{
			"train [TRAIN only]", "test [TEST only]", "conv+relu", "drop [TRAIN only]", "loss", "acc [TEST only]",
			"train -x> conv+relu [TRAIN only]", "conv+relu -conv> drop [TRAIN only]", "drop -conv> loss [TRAIN only]",
			"train -label> loss [TRAIN only]", "test -x> conv+relu [TEST only]", "conv+relu -conv> loss [TEST only]",
			"test -label> loss [TEST only]", "conv+relu -conv> acc [TEST only]", "test -label> acc [TEST only]",
		}},
		{"stage", twoPhases, []*caffepb.NetState{{Phase: caffepb.Phase_TEST.Enum(), Stage: []string{"quick"}}}, []string{
			"test", "quick", "conv+relu", "loss", "acc",
			"quick -x> conv+relu", "conv+relu -conv> loss", "quick -label> loss", "conv+relu -conv> acc", "quick -label> acc",
		}},
		{"a blob that is read before it is changed in place", `
layer { name: "a" type: "Input" top: "a" }
layer { name: "b" type: "Exp" bottom: "a" top: "b" }
layer { name: "r" type: "ReLU" bottom: "a" top: "a" }
layer { name: "c" type: "Eltwise" bottom: "a" bottom: "b" top: "c" }`, []*caffepb.NetState{test}, []string{
			"a", "b", "r", "c", "a -a> b", "a -a> r", "r -a> c", "b -b> c",
		}},
		{"a blob that nobody makes, one that is read twice", `
layer { name: "a" type: "Exp" bottom: "none" top: "a" }
layer { name: "b" type: "Eltwise" bottom: "a" bottom: "a" top: "b" }`, []*caffepb.NetState{test}, []string{"a", "b", "a -a> b"}},
	} {
		if got := structure(graphOf(t, c.net, c.states...)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestContradictingRules(t *testing.T) {
	p := &caffepb.NetParameter{Layer: []*caffepb.LayerParameter{{
		Include: []*caffepb.NetStateRule{{}}, Exclude: []*caffepb.NetStateRule{{}},
	}}}
	if _, err := New(p, Options{States: []*caffepb.NetState{test}}); err == nil {
		t.Error("a layer with include and exclude rules was drawn")
	}
}

func TestDetails(t *testing.T) {
	for _, c := range []struct{ layer, want string }{
		{`type: "Convolution" convolution_param { num_output: 64 kernel_size: 7 stride: 2 pad: 3 group: 2 }`, "Convolution 7x7 stride 2 pad 3 groups 2 → 64"},
		{`type: "Convolution" convolution_param { num_output: 6 kernel_h: 1 kernel_w: 7 pad_w: 3 }`, "Convolution 1x7 pad 0x3 → 6"},
		{`type: "Convolution" convolution_param { num_output: 6 kernel_size: 3 hole: 2 }`, "Convolution 3x3 dilation 2 → 6"},
		{`type: "Deconvolution" convolution_param { num_output: 6 kernel_size: 3 kernel_size: 3 kernel_size: 2 stride: 2 stride: 2 stride: 1 dilation: 2 }`, "Deconvolution 3x3x2 stride 2x2x1 dilation 2 → 6"},
		{`type: "Pooling" pooling_param { kernel_size: 3 stride: 2 }`, "Pooling MAX 3x3 stride 2"},
		{`type: "Pooling" pooling_param { pool: AVE global_pooling: true }`, "Pooling AVE global"},
		{`type: "InnerProduct" inner_product_param { num_output: 10 }`, "InnerProduct 10 outputs"},
		{`type: "Data" data_param { source: "a/b_lmdb" batch_size: 5 }`, "Data b_lmdb batch 5"},
		{`type: "Input" input_param { shape { dim: 1 dim: 3 dim: 9 } }`, "Input 1x3x9"},
		{`type: "SoftmaxWithLoss" loss_weight: 0.3`, "SoftmaxWithLoss weight 0.3"},
		{`type: "Scale" param { lr_mult: 1 } param { lr_mult: 2 }`, "Scale lr 1, 2"},
		{`type: "ReLU"`, "ReLU"},
		{`type: "Convolution"`, "Convolution"},
		{`type: "Pooling"`, "Pooling MAX"},
	} {
		g := graphOf(t, `layer { name: "l" `+c.layer+` }`, test)
		g.opt.Rates = true
		if got := g.details(g.boxes[0].layers[0]); got != c.want {
			t.Errorf("%s: %q, want %q", c.layer, got, c.want)
		}
	}
}

// inception is as wide and has as long arrows as nets have them.
const inception = twoPhases + `
layer { name: "i1" type: "Convolution" bottom: "conv" top: "i1" }
layer { name: "i2r" type: "Convolution" bottom: "conv" top: "i2r" }
layer { name: "i2" type: "Convolution" bottom: "i2r" top: "i2" }
layer { name: "i2relu" type: "ReLU" bottom: "i2" top: "i2" }
layer { name: "i3r" type: "Convolution" bottom: "conv" top: "i3r" }
layer { name: "i3m" type: "Convolution" bottom: "i3r" top: "i3m" }
layer { name: "i3" type: "Convolution" bottom: "i3m" top: "i3" }
layer { name: "i4" type: "Pooling" bottom: "conv" top: "i4" }
layer { name: "out" type: "Concat" bottom: "i1" bottom: "i2" bottom: "i3" bottom: "i4" top: "out" }
layer { name: "second" type: "SoftmaxWithLoss" bottom: "out" bottom: "label" }`

// TestPlaces checks in all directions that everything is inside the drawing, that no two boxes overlap, that no part of an arrow runs
// through a box, and that each arrow ends with a head at a box.
func TestPlaces(t *testing.T) {
	for _, dir := range []string{"TB", "BT", "LR", "RL"} {
		g := graphOf(t, inception, train, test)
		g.opt.RankDir = dir
		l := g.layOut()
		inside := func(p vg.Point) bool {
			return p.X > -0.01 && p.Y > -0.01 && p.X < l.width+0.01 && p.Y < l.height+0.01
		}
		rects := make([]vg.Rectangle, len(g.boxes))
		for i, b := range g.boxes {
			w, h := g.size(b)
			half := vg.Point{X: w / 2, Y: h / 2}
			rects[i] = vg.Rectangle{Min: l.centres[i].Sub(half), Max: l.centres[i].Add(half)}
			if !inside(rects[i].Min) || !inside(rects[i].Max) {
				t.Errorf("%s: box %d, %v, is not inside %v x %v", dir, i, rects[i], l.width, l.height)
			}
			for j, other := range rects[:i] {
				if rects[i].Min.X < other.Max.X && other.Min.X < rects[i].Max.X && rects[i].Min.Y < other.Max.Y && other.Min.Y < rects[i].Max.Y {
					t.Errorf("%s: boxes %d and %d overlap", dir, i, j)
				}
			}
		}
		heads := 0
		for _, line := range l.lines {
			if line.head {
				heads++
			}
			for k := range 21 {
				p := bezier(line.points, vg.Length(k)/20)
				if !inside(p) {
					t.Errorf("%s: point %v of an arrow is outside", dir, p)
				}
				for i, r := range rects {
					if p.X > r.Min.X+0.1 && p.X < r.Max.X-0.1 && p.Y > r.Min.Y+0.1 && p.Y < r.Max.Y-0.1 {
						t.Errorf("%s: an arrow runs through box %d", dir, i)
					}
				}
			}
		}
		if heads != len(g.arrows) {
			t.Errorf("%s: %d heads for %d arrows", dir, heads, len(g.arrows))
		}
	}
}

// bezier is the point of a cubic Bézier curve at u.
func bezier(p [4]vg.Point, u vg.Length) vg.Point {
	v := 1 - u
	sum := p[0].Scale(v * v * v).Add(p[1].Scale(3 * v * v * u))
	return sum.Add(p[2].Scale(3 * v * u * u)).Add(p[3].Scale(u * u * u))
}

// TestOrder untangles a graph that can be drawn without crossings.
func TestOrder(t *testing.T) {
	var net strings.Builder
	net.WriteString(`layer { name: "x" type: "Input" top: "x" }`)
	const n = 6
	for i := range n {
		fmt.Fprintf(&net, "layer { name: \"a%d\" type: \"Exp\" bottom: \"x\" top: \"a%d\" }\n", i, i)
	}
	for i := range n {
		k := i * 5 % n
		fmt.Fprintf(&net, "layer { name: \"b%d\" type: \"Exp\" bottom: \"a%d\" top: \"b%d\" }\n", k, k, k)
	}
	r := graphOf(t, net.String(), test).rank(true)
	r.number()
	if r.crossings() == 0 {
		t.Fatal("the graph is not tangled")
	}
	r.orderRanks()
	if c := r.crossings(); c != 0 {
		t.Errorf("%d crossings are left", c)
	}
}

// TestSettle compares with least squares solved by hand: nodes 10 wide that all want to be at 0 stand side by side around it; one that
// is far away is not moved.
func TestSettle(t *testing.T) {
	anchor := &node{box: 0}
	far := &node{box: 0, at: 500}
	var rank []*node
	for i := range 4 {
		n, to := &node{box: 0, across: 10}, anchor
		if i == 3 {
			to = far
		}
		n.in = []*segment{{from: to, to: n}}
		rank = append(rank, n)
	}
	settle(rank, true, true)
	for i, want := range []vg.Length{-10 - gapAcross, 0, 10 + gapAcross, 500} {
		if d := rank[i].at - want; max(d, -d) > 1e-9 {
			t.Errorf("node %d is at %v, want %v", i, rank[i].at, want)
		}
	}
}

// TestShapes: a box has the shapes of what its first layer makes, in each phase that it is in; a scalar has none.
func TestShapes(t *testing.T) {
	var p caffepb.NetParameter
	if _, err := swproto.UnmarshalText("net.prototxt", []byte(twoPhases), &p); err != nil {
		t.Fatal(err)
	}
	shapes := map[caffepb.Phase]map[string][]string{
		caffepb.Phase_TRAIN: {"train": {"64 1 8 8 (4096)", "64 (64)"}, "conv": {"64 8 6 6 (18432)"}, "drop": {"64 8 6 6 (18432)"}, "loss": {"(1)"}},
		caffepb.Phase_TEST:  {"test": {"10 1 8 8 (640)", "10 (10)"}, "conv": {"10 8 6 6 (2880)"}, "loss": {"(1)"}, "acc": {"(1)"}},
	}
	for _, c := range []struct {
		states []*caffepb.NetState
		want   string
	}{
		{[]*caffepb.NetState{train, test}, "train: 64x1x8x8, 64; test: 10x1x8x8, 10; conv: 64x8x6x6 / 10x8x6x6; drop: 64x8x6x6; loss: ; acc: "},
		{[]*caffepb.NetState{test}, "test: 10x1x8x8, 10; conv: 10x8x6x6; loss: ; acc: "},
	} {
		g, err := New(&p, Options{States: c.states, RankDir: "TB", Shapes: shapes})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range g.boxes {
			got = append(got, b.layers[0].GetName()+": "+g.shapes(b))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("got  %s\nwant %s", text, c.want)
		}
	}
}

// TestDrawing draws names that would have to be quoted, and a net without layers.
func TestDrawing(t *testing.T) {
	g := graphOf(t, strings.ReplaceAll(twoPhases, `"label"`, `"a \"label\\ <b>"`), train, test)
	svg, err := g.Draw("svg")
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(svg, new(struct{})); err != nil {
		t.Error(err)
	}
	if !bytes.Contains(svg, []byte("Convolution 3x3 → 8")) {
		t.Error("the SVG does not have the words of the convolution")
	}
	if dot := string(g.DOT()); !strings.Contains(dot, `label="a \"label\\ <b>"`) {
		t.Errorf("the name is not quoted:\n%s", dot)
	}
	for _, g := range []*Graph{g, graphOf(t, "", train, test)} {
		picture, err := g.Draw("png")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
			t.Error(err)
		}
	}
}

// TestPlacesOfLayers: every drawn layer has a place inside the picture, which no other layer's place overlaps; readers are below makers, and a layer in
// place touches the layer whose blob it changes.
func TestPlacesOfLayers(t *testing.T) {
	g := graphOf(t, `
layer { name: "data" type: "Input" top: "data" }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "side" type: "Pooling" bottom: "data" top: "side" }
layer { name: "end" type: "Eltwise" bottom: "conv" bottom: "side" top: "end" }`, train)
	at := map[string]Place{}
	for _, p := range g.Places() {
		if p.Left < 0 || p.Top < 0 || p.Width <= 0 || p.Height <= 0 || p.Left+p.Width > 1 || p.Top+p.Height > 1 {
			t.Errorf("%+v is outside", p)
		}
		for _, q := range at {
			const hair = 1e-9
			if p.Left < q.Left+q.Width-hair && q.Left < p.Left+p.Width-hair && p.Top < q.Top+q.Height-hair && q.Top < p.Top+p.Height-hair {
				t.Errorf("%+v overlaps %+v", p, q)
			}
		}
		at[p.Layer] = p
	}
	if len(at) != 5 {
		t.Fatalf("%d places, want 5", len(at))
	}
	if r, c := at["relu"], at["conv"]; r.Left != c.Left || math.Abs(r.Top-c.Top-c.Height) > 1e-9 {
		t.Errorf("relu is at %+v, conv at %+v", r, c)
	}
	for _, pair := range [][2]string{{"data", "conv"}, {"data", "side"}, {"relu", "end"}, {"side", "end"}} {
		if a, b := at[pair[0]], at[pair[1]]; a.Top+a.Height >= b.Top {
			t.Errorf("%+v is not above %+v", a, b)
		}
	}
}
