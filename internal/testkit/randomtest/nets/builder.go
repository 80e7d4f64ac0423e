package nets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// tip is a blob that later layers may read.
type tip struct {
	name   string
	shape  []int
	reads  int  // number of layers that read it
	source bool // an Input layer makes it
}

// count is the number of values in a shape.
func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func (t *tip) images() bool { return len(t.shape) == 4 }

// builder grows a net from its inputs to its losses, one block of layers at a time. It computes the shapes of tops by Caffe's
// formulas. A net that swcaffe refuses, or whose shapes differ, is a failure.
type builder struct {
	r      *rand.Rand
	text   strings.Builder
	tips   []*tip
	layers int
	blobs  int

	work   float64 // remaining budget of multiply-adds in Forward
	values float64 // remaining budget of values in blobs
	smooth bool    // only functions without kinks
	force  bool    // force_backward; excludes Filter, which has no gradient then
}

// integer draws a number from lo to hi, uniformly on a logarithmic scale.
func (b *builder) integer(lo, hi int) int {
	if lo >= hi {
		return lo
	}
	x := math.Exp(math.Log(float64(lo)) + b.r.Float64()*math.Log(float64(hi+1)/float64(lo)))
	return min(hi, max(lo, int(x)))
}

// chance is true with probability p.
func (b *builder) chance(p float64) bool { return b.r.Float64() < p }

// outputs draws a number of outputs: a usual one, or any.
func (b *builder) outputs(most int) int {
	usual := []int{1, 2, 3, 5, 8, 10, 16, 20, 24, 32, 48, 50, 64, 96, 100, 128, 192, 256, 384, 500, 512, 1000}
	if b.chance(0.5) {
		if n := usual[b.r.IntN(len(usual))]; n <= most {
			return n
		}
	}
	return b.integer(1, most)
}

// blob returns a new blob name.
func (b *builder) blob() string {
	b.blobs++
	return fmt.Sprintf("b%d", b.blobs)
}

// affords deducts a layer's cost from the budget. It is false if the budget does not suffice.
func (b *builder) affords(work float64, shapes ...[]int) bool {
	var values float64
	for _, s := range shapes {
		values += float64(count(s))
	}
	if work > b.work || values > b.values {
		return false
	}
	b.work -= work
	b.values -= values
	return true
}

// layer writes a layer. The caller has named its tops.
func (b *builder) layer(kind string, bottoms []*tip, tops []*tip, param string) {
	b.layers++
	fmt.Fprintf(&b.text, "layer {\n  name: \"l%d\"\n  type: %q\n", b.layers, kind)
	for _, t := range bottoms {
		t.reads++
		fmt.Fprintf(&b.text, "  bottom: %q\n", t.name)
	}
	for _, t := range tops {
		fmt.Fprintf(&b.text, "  top: %q\n", t.name)
	}
	if param != "" {
		fmt.Fprintf(&b.text, "  %s\n", param)
	}
	b.text.WriteString("}\n")
}

// one writes a layer with one bottom and one new top of the given shape, and returns the top; nil if the budget does not suffice.
func (b *builder) one(kind string, in *tip, shape []int, work float64, param string) *tip {
	if !b.affords(work, shape) {
		return nil
	}
	out := &tip{name: b.blob(), shape: shape}
	b.layer(kind, []*tip{in}, []*tip{out}, param)
	b.tips = append(b.tips, out)
	return out
}

// same writes a layer that keeps its bottom's shape, in place or not. In place needs a blob without other readers (as Caffe's net
// does) and excludes AbsVal.
func (b *builder) same(kind string, in *tip, param string) *tip {
	if in.source && !b.chance(0.1) || in.reads > 0 || kind == "AbsVal" || b.chance(0.3) {
		return b.one(kind, in, in.shape, 0, param)
	}
	b.layer(kind, []*tip{in}, []*tip{in}, param)
	in.reads = 0 // no layer has read the new values
	return in
}

// input adds an input of its own.
func (b *builder) input(prefix string, shape ...int) *tip {
	b.blobs++
	t := &tip{name: fmt.Sprintf("%s_%d", prefix, b.blobs), shape: shape, source: true}
	b.layer("Input", nil, []*tip{t}, "input_param { shape { "+dims(shape)+"} }")
	return t
}

func dims(shape []int) string {
	var s strings.Builder
	for _, d := range shape {
		fmt.Fprintf(&s, "dim: %d ", d)
	}
	return s.String()
}

// open picks a tip without readers, or sometimes another one; nil if no tip satisfies is.
func (b *builder) open(is func(*tip) bool) *tip {
	var unread, all []*tip
	for _, t := range b.tips {
		if !is(t) {
			continue
		}
		all = append(all, t)
		if t.reads == 0 {
			unread = append(unread, t)
		}
	}
	if len(unread) > 0 && !b.chance(0.12) {
		return unread[b.r.IntN(len(unread))]
	}
	if len(all) == 0 {
		return nil
	}
	return all[b.r.IntN(len(all))]
}

// Fillers of weights. The scale preserves the size of signals.
const weightFiller, biasFiller = `weight_filler { type: "msra" }`, `bias_filler { type: "gaussian" std: 0.1 }`

// params draws ParamSpecs for a layer's weights: none, frozen ones, or names shared with other layers of the same shape.
func (b *builder) params(weights int, shape string) string {
	switch {
	case b.chance(0.06):
		return strings.Repeat("param { lr_mult: 0 } ", weights)
	case b.chance(0.06) && weights == 2:
		return "param { lr_mult: 1 } param { lr_mult: 0 } "
	case b.chance(0.05):
		var s strings.Builder
		for i := range weights {
			fmt.Fprintf(&s, "param { name: \"%s_%d\" } ", shape, i)
		}
		return s.String()
	}
	return ""
}
