package export

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// proposals is a Proposal layer. Anchors are constants; TopK takes the best boxes of an image and NonMaxSuppression, on boxes that include their
// last pixels, keeps some of them. As with DetectionOutput, the places of the kept ones give the rows.
type proposals struct {
	*layer
	p       *caffepb.ProposalParameter
	anchors [][4]float32
	batch   dim
	n       int // anchors of an image
	before  int // boxes that take part in the suppression
}

func proposal(l *layer) error {
	p, x := l.p.GetProposalParam(), l.bottom[0]
	r := &proposals{layer: l, p: p, batch: l.dims(x)[0], anchors: box.Anchors(int(p.GetBaseSize()), p.GetRatio(), p.GetScale())}
	r.n = len(r.anchors) * x.Dim(2) * x.Dim(3)
	r.before = min(r.n, int(p.GetPreNmsTopn()))
	if l.bottom[2].NumAxes() != 2 {
		return errors.New("bottom 2 has not two axes, images and numbers")
	}
	scores, boxes := r.candidates()
	index := l.node("Transpose", []string{r.kept(scores, boxes)}, attr{"perm", []int{1, 0}})
	image := l.node("Cast", []string{r.part(index, 1, 0, 1)}, float)
	l.set(0, l.node("Concat", []string{image, l.node("GatherND", []string{boxes, index})}, attr{"axis", 1}))
	if len(l.top) > 1 {
		l.set(1, l.node("GatherND", []string{scores, index}))
	}
	for _, top := range l.top {
		l.loose[top] = 0
	}
	return nil
}

// pairs makes a constant of two values for each anchor of each pixel.
func (r *proposals) pairs(what string, of func(a [4]float32) [2]float32) string {
	var values []float32
	h, w, stride := r.bottom[0].Dim(2), r.bottom[0].Dim(3), int(r.p.GetFeatStride())
	for i := range h * w {
		x, y := float32(i%w*stride), float32(i/w*stride)
		for _, a := range r.anchors {
			v := of([4]float32{a[0] + x, a[1] + y, a[2] + x, a[3] + y})
			values = append(values, v[0], v[1])
		}
	}
	return r.array(what, values, r.n, 2)
}

// clipped returns the clipped boxes' first and last pixels, as images x anchors x 2.
func (r *proposals) clipped() (low, high string) {
	h, w, a := r.bottom[0].Dim(2), r.bottom[0].Dim(3), len(r.anchors)
	steps := r.reshape(r.in[1], r.dims(r.bottom[1]), []dim{r.batch, {n: a}, {n: 4}, {n: h}, {n: w}})
	steps = r.node("Transpose", []string{steps}, attr{"perm", []int{0, 3, 4, 1, 2}})
	steps = r.reshape(steps, []dim{r.batch, {n: h}, {n: w}, {n: a}, {n: 4}}, []dim{r.batch, {n: r.n}, {n: 4}})
	sizes := r.pairs("sides", func(a [4]float32) [2]float32 { return [2]float32{a[2] - a[0] + 1, a[3] - a[1] + 1} })
	centres := r.pairs("centres", func(a [4]float32) [2]float32 {
		return [2]float32{a[0] + 0.5*(a[2]-a[0]+1), a[1] + 0.5*(a[3]-a[1]+1)}
	})
	centre := r.node("Add", []string{r.node("Mul", []string{r.part(steps, 2, 0, 2), sizes}), centres})
	size := r.node("Mul", []string{r.node("Exp", []string{r.part(steps, 2, 2, 4)}), sizes})
	ends := r.corners(centre, size)
	last := r.node("Sub", []string{r.columns(1, 0), r.number("one", 1)})
	clip := func(v string) string {
		return r.node("Max", []string{r.node("Min", []string{v, last}), r.number("zero", 0)})
	}
	return clip(ends[0]), clip(ends[1])
}

// columns returns two columns of im_info, as images x 1 x 2.
func (r *proposals) columns(a, b int) string {
	v := r.node("Gather", []string{r.in[2], r.ints("columns", a, b)}, attr{"axis", 1})
	return r.reshape(v, []dim{r.batch, {n: 2}}, []dim{r.batch, {n: 1}, {n: 2}})
}

// candidates returns the best scores, as images x boxes, and their boxes, as images x boxes x 4. Boxes that are too small have the score -Inf.
func (r *proposals) candidates() (scores, boxes string) {
	h, w, a := r.bottom[0].Dim(2), r.bottom[0].Dim(3), len(r.anchors)
	all := []dim{r.batch, {n: r.n}}
	scores = r.node("Transpose", []string{r.part(r.in[0], 1, a, 2*a)}, attr{"perm", []int{0, 2, 3, 1}})
	scores = r.reshape(scores, []dim{r.batch, {n: h}, {n: w}, {n: a}}, all)
	low, high := r.clipped()
	scaleW := min(3, r.bottom[2].Dim(1)-1)
	least := r.node("Mul", []string{r.columns(scaleW, 2), r.number("least", float32(r.p.GetMinSize()))})
	sides := r.node("Add", []string{r.node("Sub", []string{high, low}), r.number("one", 1)})
	large := r.node("Cast", []string{r.node("GreaterOrEqual", []string{sides, least})}, float)
	both := r.reshape(r.node("Mul", []string{r.part(large, 2, 0, 1), r.part(large, 2, 1, 2)}), append(all[:2:2], dim{n: 1}), all)
	scores = r.node("Where", []string{r.node("Cast", []string{both}, attr{"to", int(onnxpb.TensorProto_BOOL)}), scores, r.number("lowest", float32(math.Inf(-1)))})
	top := r.nodes("TopK", 2, []string{scores, r.ints("best", r.before)}, attr{"axis", 1})
	places := r.reshape(top[1], []dim{r.batch, {n: r.before}}, []dim{r.batch, {n: r.before}, {n: 1}})
	boxes = r.node("Concat", []string{low, high}, attr{"axis", 2})
	return top[0], r.node("GatherND", []string{boxes, places}, attr{"batch_dims", 1})
}

// kept returns the places of the boxes that are kept, in the order of images and scores. The suppression gets their ranks in place of the scores,
// and 0 for boxes that are too small, because OpenCV 5 takes no threshold below 0.
func (r *proposals) kept(scores, boxes string) string {
	ranks := make([]float32, r.before)
	for i := range ranks {
		ranks[i] = float32(r.before - i)
	}
	large := r.node("Greater", []string{scores, r.number("finite", -math.MaxFloat32)})
	ranked := r.node("Where", []string{large, r.array("ranks", ranks, 1, r.before), r.number("none", 0)})
	in := []string{
		r.node("Add", []string{boxes, r.array("last pixel", []float32{0, 0, 1, 1}, 4)}),
		r.reshape(ranked, []dim{r.batch, {n: r.before}}, []dim{r.batch, {n: 1}, {n: r.before}}),
		r.ints("regions", int(r.p.GetPostNmsTopn())), r.number("overlap", min(1, r.p.GetNmsThresh())), r.number("zero", 0),
	}
	marks := r.mark(scores, r.node("NonMaxSuppression", in))
	return r.node("NonZero", []string{marks})
}

// openRegions returns the axes that depend on the numbers of regions, if the batch size is fixed: it reshapes the layers behind each Proposal
// layer for one region more. It returns nil if there is no such layer.
func openRegions(n *swnet.Net) (*variation, error) {
	var v *variation
	shapes := shapesOf(n)
	for i := range n.NumLayers() {
		if n.LayerType(i) == "Proposal" {
			v = &variation{of: map[*blob.Blob][]bool{}}
			for _, top := range n.Tops(i) {
				top.Reshape(append([]int{top.Dim(0) + 1}, top.Shape()[1:]...)...)
			}
		} else if v != nil {
			if err := n.Layer(i).Reshape(n.Bottoms(i), n.Tops(i)); err != nil {
				return nil, fmt.Errorf("layer %q has another number of regions: %w", n.LayerName(i), err)
			}
		}
	}
	if v == nil {
		return nil, nil
	}
	for i, tops := range shapes {
		for k, top := range n.Tops(i) {
			axes := make([]bool, len(tops[k]))
			for a := range axes {
				axes[a] = a < top.NumAxes() && top.Dim(a) != tops[k][a]
			}
			v.of[top] = axes
		}
	}
	return v, n.Reshape()
}
