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
	reads  int  // layers that read it
	source bool // an Input layer makes it
}

// count is the number of values of a shape.
func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func (t *tip) images() bool { return len(t.shape) == 4 }

// builder grows a net from its inputs to its losses, a block of layers at a time. Shapes of tops are worked out here by Caffe's formulas, so that a
// net that swcaffe refuses, or gives other shapes, is a failure.
type builder struct {
	r      *rand.Rand
	text   strings.Builder
	tips   []*tip
	layers int
	blobs  int
	shared int // names of shared weights that were used

	work   float64 // multiply-adds of Forward that are left
	values float64 // values of blobs that are left
	smooth bool    // no functions with kinks
	force  bool    // force_backward, which Filter has no gradient for
}

// integer draws from lo to hi, each power of two as likely as the next.
func (b *builder) integer(lo, hi int) int {
	if lo >= hi {
		return lo
	}
	x := math.Exp(math.Log(float64(lo)) + b.r.Float64()*math.Log(float64(hi+1)/float64(lo)))
	return min(hi, max(lo, int(x)))
}

// chance is true with a probability.
func (b *builder) chance(p float64) bool { return b.r.Float64() < p }

// outputs draws a number of outputs: one that nets have, or any.
func (b *builder) outputs(most int) int {
	usual := []int{1, 2, 3, 5, 8, 10, 16, 20, 24, 32, 48, 50, 64, 96, 100, 128, 192, 256, 384, 500, 512, 1000}
	if b.chance(0.5) {
		if n := usual[b.r.IntN(len(usual))]; n <= most {
			return n
		}
	}
	return b.integer(1, most)
}

// blob names a blob.
func (b *builder) blob() string {
	b.blobs++
	return fmt.Sprintf("b%d", b.blobs)
}

// affords takes what a layer costs from the budget, if there is so much.
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

// layer writes a layer. Its tops are named by the caller.
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

// one writes a layer of one bottom and one new top of a shape, which it returns; nil if it costs too much.
func (b *builder) one(kind string, in *tip, shape []int, work float64, param string) *tip {
	if !b.affords(work, shape) {
		return nil
	}
	out := &tip{name: b.blob(), shape: shape}
	b.layer(kind, []*tip{in}, []*tip{out}, param)
	b.tips = append(b.tips, out)
	return out
}

// same writes a layer that keeps its bottom's shape: in place, or not. A blob that others read too is not computed in place (Caffe's net
// refuses that), nor does AbsVal run in place.
func (b *builder) same(kind string, in *tip, param string) *tip {
	if in.source && !b.chance(0.1) || in.reads > 0 || kind == "AbsVal" || b.chance(0.3) {
		return b.one(kind, in, in.shape, 0, param)
	}
	b.layer(kind, []*tip{in}, []*tip{in}, param)
	in.reads = 0 // what it makes has been read by nobody
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

// open picks a tip that nobody reads, or seldom another; nil if there is none of the kind.
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

// fillers of weights; the scale keeps signals at their size.
const weightFiller, biasFiller = `weight_filler { type: "msra" }`, `bias_filler { type: "gaussian" std: 0.1 }`

// params draws ParamSpecs for a layer's weights: nothing, frozen ones, or names that other layers of the same shape share.
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
