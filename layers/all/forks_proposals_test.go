package all_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

// sizes fills im_info with the size of an image and its scale.
func sizes(values ...float32) layertest.Fill {
	return func(_ *rand.Rand, dst []float32) {
		for i := range dst {
			dst[i] = values[i%len(values)]
		}
	}
}

// someOnes draws zeros and ones.
func someOnes(r *rand.Rand, values []float32) {
	for i := range values {
		values[i] = float32(r.IntN(2))
	}
}

func init() {
	given := func(fill layertest.Fill, shape ...int) layertest.Bottom {
		return layertest.Bottom{Shape: shape, Fill: fill, NoGradient: true}
	}
	small := layertest.Uniform(-0.3, 0.3)
	addCases("Proposal",
		layertest.Case{Param: "proposal_param { feat_stride: 8 min_size: 4 ratio: 0.5 ratio: 2 scale: 1 scale: 2 scale: 4 post_nms_topn: 40 }", Tops: 2,
			Bottoms: []layertest.Bottom{given(layertest.Distinct(0, 1), 1, 12, 7, 9), given(small, 1, 24, 7, 9), given(sizes(60, 70, 1), 1, 3)},
			Again:   [][]int{{1, 12, 21, 30}, {1, 24, 21, 30}, {1, 3}}},
		layertest.Case{Name: "two images", Param: "proposal_param { pre_nms_topn: 90 post_nms_topn: 7 nms_thresh: 0.5 }",
			Bottoms: []layertest.Bottom{given(layertest.Distinct(0, 1), 2, 18, 5, 6), given(small, 2, 36, 5, 6), given(sizes(80, 96, 1.5, 1.25), 2, 4)}})
	addCases("BoxAnnotatorOHEM",
		layertest.Case{Param: "box_annotator_ohem_param { roi_per_img: 3 }", Tops: 2,
			Bottoms: []layertest.Bottom{regions(11, 2, 30, 40), given(layertest.Distinct(0, 2), 11, 1, 1, 1), layertest.Labels(4, 11), given(someOnes, 11, 8, 1, 1)},
			Again:   [][]int{{300, 5}, {300}, {300}, {300, 8}}},
		layertest.Case{Name: "pixels", Param: "box_annotator_ohem_param { roi_per_img: 4 ignore_label: 9 }", Tops: 2,
			Bottoms: []layertest.Bottom{given(func(r *rand.Rand, v []float32) { clear(v) }, 2, 5, 2, 3), given(layertest.Distinct(0, 2), 2, 1, 2, 3), layertest.Labels(4, 2, 1, 2, 3), given(someOnes, 2, 4, 2, 3)}})
	scores := []layertest.Bottom{layertest.In(4, 5, 3), layertest.Labels(5, 4, 1, 3)}
	addCases("SoftmaxWithLoss", layertest.Case{Name: "class weighting", Bottoms: scores,
		Param: "loss_param { weight_by_label_freqs: true class_weighting: 0.5 class_weighting: 2 class_weighting: 1 class_weighting: 0 class_weighting: 3 ignore_label: 1 }"})
	addCases("SoftmaxWithLossOHEM",
		layertest.Case{Name: "three tops", Param: "loss_param { ignore_label: 2 }", Tops: 3, GradTops: 1, Bottoms: scores, Again: [][]int{{300, 5, 20}, {300, 20}}},
		layertest.Case{Name: "divided", Param: "loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 7.5 }", Bottoms: scores})
	away := layertest.Filled(layertest.Uniform(-2, 2), 3, 4, 2, 1)
	addCases("SmoothL1LossOHEM",
		layertest.Case{Bottoms: []layertest.Bottom{away, away}, Again: [][]int{{50, 700, 1, 1}, {50, 700, 1, 1}}},
		layertest.Case{Name: "two tops", Param: "loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 5 }", Tops: 2, GradTops: 1,
			Bottoms: []layertest.Bottom{away, away, {Shape: []int{3, 4, 2, 1}, NoGradient: true, Fill: layertest.Uniform(0, 2)}}})
	addCases("Reorg",
		layertest.Case{Bottoms: []layertest.Bottom{layertest.In(2, 4, 6, 4)}, Again: [][]int{{1, 64, 26, 26}}},
		layertest.Case{Name: "reverse", Param: "reorg_param { reverse: true }", Bottoms: []layertest.Bottom{layertest.In(2, 8, 3, 2)}},
		layertest.Case{Name: "stride 3", Param: "reorg_param { stride: 3 }", Bottoms: []layertest.Bottom{layertest.In(1, 9, 6, 3)}})
}

// proposed computes Faster R-CNN's proposals of an image in float64, by way of centres and with a table of all overlaps.
func proposed(scores, steps []float32, h, w, stride, base int, ratios, scales []float64, height, width, least float64, before, after int, limit float64) [][5]float64 {
	var list [][5]float64
	a, pixels := len(ratios)*len(scales), h*w
	for y := range h {
		for x := range w {
			for k := range a {
				r, s := ratios[k/len(scales)], scales[k%len(scales)]
				bw := math.Round(math.Sqrt(float64(base*base) / r))
				bh := math.Round(bw*r) * s
				bw *= s
				step := func(j int) float64 { return float64(steps[((4*k+j)*h+y)*w+x]) }
				cx, cy := float64(x*stride)+float64(base)/2+step(0)*bw, float64(y*stride)+float64(base)/2+step(1)*bh
				bw, bh = bw*math.Exp(step(2)), bh*math.Exp(step(3))
				inside := func(v, n float64) float64 { return math.Max(0, math.Min(v, n-1)) }
				b := [5]float64{inside(cx-bw/2, width), inside(cy-bh/2, height), inside(cx+bw/2, width), inside(cy+bh/2, height), float64(scores[(a+k)*pixels+y*w+x])}
				if b[2]-b[0]+1 >= least && b[3]-b[1]+1 >= least {
					list = append(list, b)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(p, q [5]float64) int { return cmp.Compare(q[4], p[4]) })
	list = list[:min(len(list), before)]
	dropped := make([]bool, len(list))
	var kept [][5]float64
	for i, b := range list {
		if dropped[i] {
			continue
		}
		kept = append(kept, b)
		for j, c := range list {
			iw, ih := math.Min(b[2], c[2])-math.Max(b[0], c[0])+1, math.Min(b[3], c[3])-math.Max(b[1], c[1])+1
			both := math.Max(0, iw) * math.Max(0, ih)
			if both/((b[2]-b[0]+1)*(b[3]-b[1]+1)+(c[2]-c[0]+1)*(c[3]-c[1]+1)-both) > limit {
				dropped[j] = true
			}
		}
	}
	return kept[:min(len(kept), after)]
}

func TestProposalsByDefinition(t *testing.T) {
	b := layertest.NewBench(t)
	const h, w, a = 6, 7, 4
	r := rand.New(rand.NewPCG(3, 4))
	for _, least := range []float64{1, 12} {
		scores, steps := make([]float32, 2*2*a*h*w), make([]float32, 2*4*a*h*w)
		layertest.Distinct(0, 1)(r, scores)
		layertest.Uniform(-0.4, 0.4)(r, steps)
		var rois, values []float64
		for image := range 2 {
			list := proposed(scores[image*2*a*h*w:], steps[image*4*a*h*w:], h, w, 8, 10, []float64{0.5, 1.7}, []float64{1, 2.5}, 50, 58, 1.5*least, 60, 15, 0.45)
			for _, box := range list {
				rois, values = append(append(rois, float64(image)), box[:4]...), append(values, box[4])
			}
		}
		for _, engine := range layertest.Engines() {
			param := map[float64]string{1: "min_size: 1", 12: "min_size: 12"}[least]
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Proposal", Tops: 2,
				Param:   "proposal_param { feat_stride: 8 base_size: 10 ratio: 0.5 ratio: 1.7 scale: 1 scale: 2.5 pre_nms_topn: 60 post_nms_topn: 15 nms_thresh: 0.45 " + param + " }",
				Bottoms: []layertest.Bottom{fixed(scores, 2, 2*a, h, w), fixed(steps, 2, 4*a, h, w), fixed([]float32{50, 58, 1.5, 50, 58, 1.5}, 2, 3)}})
			got := f.Forward(t)
			layertest.Equal(t, "regions", got[0], floats(rois), 1e-5)
			layertest.Equal(t, "scores", got[1], floats(values), 0)
		}
	}
}

// TestProposalWithoutRegions: boxes that are all too small leave no region.
func TestProposalWithoutRegions(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Proposal", Param: "proposal_param { min_size: 1000 ratio: 1 scale: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(1, 2, 3, 4), layertest.In(1, 4, 3, 4), fixed([]float32{48, 64, 1}, 1, 3)}})
		if got := f.Forward(t)[0]; len(got) != 0 || f.Top[0].ShapeString() != "0 5 (0)" {
			t.Errorf("%v: the regions are %v with shape %s", engine, got, f.Top[0].ShapeString())
		}
	}
}

// TestRegionsAreConstants: nets train through regions that layers with weights propose. Backward gives regions, scores and steps zeros.
func TestRegionsAreConstants(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In
	for _, engine := range layertest.Engines() {
		for _, c := range []layertest.Case{
			{Type: "Proposal", Param: "proposal_param { min_size: 1 ratio: 1 scale: 1 post_nms_topn: 2 }", Bottoms: []layertest.Bottom{in(1, 2, 3, 4), in(1, 4, 3, 4), in(1, 3)}},
			{Type: "ROIPooling", Param: "roi_pooling_param { pooled_h: 1 pooled_w: 1 }", Bottoms: []layertest.Bottom{in(1, 2, 3, 4), layertest.Given([]float32{0, 0, 0, 2, 2}, 1, 5)}},
			{Type: "ROIAlign", Param: "roi_align_param { pooled_h: 1 pooled_w: 1 }", Bottoms: []layertest.Bottom{in(1, 2, 3, 4), layertest.Given([]float32{0, 0, 0, 2, 2}, 1, 5)}},
			{Type: "PSROIPooling", Param: "psroi_pooling_param { spatial_scale: 1 output_dim: 2 group_size: 1 }", Bottoms: []layertest.Bottom{in(1, 2, 3, 4), layertest.Given([]float32{0, 0, 0, 2, 2}, 1, 5)}},
		} {
			f := layertest.Build(t, b, engine, c)
			f.Forward(t)
			dx, _ := f.Backward(t, make([]float32, f.Top[0].Count()))
			for i, d := range dx {
				layertest.Equal(t, c.Type+" gradient", d, make([]float32, f.Bottom[i].Count()), 0)
			}
		}
	}
}

// TestBoxAnnotatorByHand: of image 0 the regions 3 and 0 have the largest losses, of image 2 all its two are kept, and image 1 has none.
func TestBoxAnnotatorByHand(t *testing.T) {
	b := layertest.NewBench(t)
	rois := make([]float32, 30)
	for i, image := range []float32{0, 2, 0, 0, 2, 0} {
		rois[5*i] = image
	}
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "BoxAnnotatorOHEM", Tops: 2, Param: "box_annotator_ohem_param { roi_per_img: 2 }", Bottoms: []layertest.Bottom{
			fixed(rois, 6, 5), fixed([]float32{4, 1, 3, 5, 0, 4}, 6), fixed([]float32{10, 11, 12, 13, 14, 15}, 6), fixed([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 6, 2)}})
		got := f.Forward(t)
		layertest.Equal(t, "labels", got[0], []float32{10, 11, -1, 13, 14, -1}, 0)
		layertest.Equal(t, "weights", got[1], []float32{1, 2, 3, 4, 0, 0, 7, 8, 9, 10, 0, 0}, 0)
		f.Bottom[0].Data()[5] = -1
		if err := f.Layer.Forward(f.Bottom, f.Top); err == nil || err.Error() != "region 1 is of image -1, but 6 regions are of at most as many images" {
			t.Errorf("%v: error %v", engine, err)
		}
	}
}

func TestLossesOfOHEMByHand(t *testing.T) {
	b := layertest.NewBench(t)
	half := float32(math.Log(2))
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "SoftmaxWithLossOHEM", Tops: 3, Param: "loss_param { ignore_label: -1 }",
			Bottoms: []layertest.Bottom{layertest.Given([]float32{0, 0, 0, half, 1, 1}, 3, 2), fixed([]float32{0, 1, -1}, 3)}})
		got := f.Forward(t)
		first, second := math.Log(2), math.Log(1.5)
		layertest.Equal(t, "loss", got[0], floats([]float64{(first + second) / 2}), 1e-6)
		layertest.Equal(t, "items' losses", got[2], floats([]float64{first, second, 0}), 1e-6)
		d, _ := f.Backward(t, []float32{2})
		layertest.Equal(t, "gradient", d[0], []float32{-0.5, 0.5, 1. / 3, -1. / 3, 0, 0}, 1e-6)
		// differences 0.5, -3, 0 and, with weight 0, 7
		f = layertest.Build(t, b, engine, layertest.Case{Type: "SmoothL1LossOHEM", Tops: 2, Param: "loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 10 }",
			Bottoms: []layertest.Bottom{layertest.Given([]float32{1.5, 0, 2, 9}, 2, 2), layertest.Given([]float32{1, 3, 2, 2}, 2, 2), fixed([]float32{1, 1, 1, 0}, 2, 2)}})
		got = f.Forward(t)
		layertest.Equal(t, "loss", got[0], []float32{0.2625}, 1e-6)
		layertest.Equal(t, "items' losses", got[1], []float32{2.625, 0}, 1e-6)
		d, _ = f.Backward(t, []float32{20})
		layertest.Equal(t, "da", d[0], []float32{1, -2, 0, 0}, 1e-6)
		layertest.Equal(t, "db", d[1], []float32{-1, 2, 0, 0}, 1e-6)
	}
}

// TestReorgInDarknetsOrder computes the place of each value as darknet does.
func TestReorgInDarknetsOrder(t *testing.T) {
	b := layertest.NewBench(t)
	const c, h, w, s = 8, 4, 6, 2
	x, want := between(c*h*w, -1, 1), make([]float32, c*h*w)
	for k := range c {
		for y := range h {
			for xx := range w {
				part := k / (c / s / s)
				want[(k*h+y)*w+xx] = x[((k%(c/s/s))*h*s+y*s+part/s)*w*s+xx*s+part%s]
			}
		}
	}
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Reorg", Bottoms: []layertest.Bottom{layertest.Given(x, 1, c, h, w)}})
		y := f.Forward(t)[0]
		layertest.Equal(t, "top", y, want, 0)
		if got := f.Top[0].ShapeString(); got != "1 32 2 3 (192)" {
			t.Errorf("shape %s", got)
		}
		f = layertest.Build(t, b, engine, layertest.Case{Type: "Reorg", Param: "reorg_param { reverse: true }", Bottoms: []layertest.Bottom{layertest.Given(want, 1, c, h, w)}})
		layertest.Equal(t, "back", f.Forward(t)[0], x, 0)
	}
}

func TestErrorsOfProposals(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"Proposal", "", []layertest.Bottom{in(1, 10, 3, 4), in(1, 36, 3, 4), in(1, 3)}, []string{"9 anchors", "1 10 3 4 (120)"}},
		{"Proposal", "", []layertest.Bottom{in(1, 18, 3, 4), in(1, 36, 3, 5), in(1, 3)}, []string{"1 36 3 5 (540)", "1 18 3 4 (216)"}},
		{"Proposal", "", []layertest.Bottom{in(2, 18, 3, 4), in(2, 36, 3, 4), in(1, 3)}, []string{"2 images", "1 3 (3)"}},
		{"Proposal", "proposal_param { ratio: 0 }", []layertest.Bottom{in(2, 18, 3, 4), in(2, 36, 3, 4), in(1, 3)}, []string{"ratio and scale", "is 0"}},
		{"Proposal", "proposal_param { feat_stride: 0 }", []layertest.Bottom{in(2, 18, 3, 4), in(2, 36, 3, 4), in(1, 3)}, []string{"feat_stride", "it is 0"}},
		{"BoxAnnotatorOHEM", "", []layertest.Bottom{in(2, 5), in(2), in(2), in(2, 8)}, []string{"roi_per_img", "it is 0"}},
		{"BoxAnnotatorOHEM", "box_annotator_ohem_param { roi_per_img: 1 }", []layertest.Bottom{in(2, 5), in(3), in(2), in(2, 8)}, []string{"bottom[1]", "2 x 1 x 1 x 1", "3 (3)"}},
		{"Reorg", "", []layertest.Bottom{in(1, 6, 4, 4)}, []string{"multiple of 4 channels", "1 6 4 4 (96)"}},
		{"Reorg", "", []layertest.Bottom{in(1, 4, 3, 4)}, []string{"stride 2", "1 4 3 4 (48)"}},
		{"Reorg", "reorg_param { stride: 0 }", []layertest.Bottom{in(1, 4, 3, 4)}, []string{"stride", "it is 0"}},
		{"SmoothL1LossOHEM", "", []layertest.Bottom{in(2, 3), in(2, 4)}, []string{"2 3 (6)", "2 4 (8)"}},
	} {
		c := layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}
		if tt.typ == "BoxAnnotatorOHEM" {
			c.Tops = 2
		}
		wantError(t, b, c, tt.want...)
	}
}
