package all_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

const (
	regionParam = "region_loss_param { num_class: 3 num: 2 biases: 1 biases: 0.8 biases: 2 biases: 3 object_scale: 5 noobject_scale: 1.5 class_scale: 2 coord_scale: 3 thresh: 0.3 "
	yolov3Param = "yolov3_param { num_class: 3 num: 2 biases: 9 biases: 7 biases: 30 biases: 5 biases: 16 biases: 20 mask: 2 mask: 0 object_scale: 4 class_scale: 2 coord_scale: 3 thresh: 0.3 anchors_scale: 8 "
)

// yoloObjects is a bottom of up to two objects for each image, of four places.
func yoloObjects(images int) layertest.Bottom {
	return layertest.Bottom{Shape: []int{images, 4, 5}, NoGradient: true, Fill: func(r *rand.Rand, values []float32) {
		for i := range values {
			values[i] = 0
		}
		for i := 0; i+20 <= len(values); i += 20 {
			for k := range i / 20 % 3 {
				copy(values[i+5*k:], []float32{float32(r.IntN(3)), r.Float32(), r.Float32(), 0.05 + r.Float32()/2, 0.05 + r.Float32()/2})
			}
		}
	}}
}

func init() {
	const reason, test = "the gradient is not that of the top", "TestYoloLossesByDifferences"
	bottoms := []layertest.Bottom{layertest.In(3, 16, 3, 4), yoloObjects(3)}
	large := []layertest.Bottom{layertest.In(2, 16, 30, 31), yoloObjects(2)}
	again := [][]int{{5, 16, 19, 7}, {5, 4, 5}}
	addCases("RegionLoss",
		layertest.Case{Param: regionParam + "}", Bottoms: bottoms, NoGradient: reason, CheckedBy: test, Again: again},
		layertest.Case{Name: "test", Phase: caffepb.Phase_TEST, Param: regionParam + "rescore: 0 bias_match: 0 }", Bottoms: large, NoGradient: reason})
	addCases("Yolov3",
		layertest.Case{Param: yolov3Param + "}", Bottoms: bottoms, NoGradient: reason, CheckedBy: test, Again: again},
		layertest.Case{Name: "use_logic_gradient", Param: yolov3Param + "use_logic_gradient: true }", Bottoms: large, NoGradient: reason})
}

// yoloProblem is a problem of 2 images, 2 anchors, 3 classes and 3 x 4 cells, whose errors follow from the papers' functions.
type yoloProblem struct {
	x       []float64
	objects [2][][5]float64
	anchors [][2]float64 // in units of the image
	own     []int        // the anchors of the bottom
	region  bool
	squares bool // sigmoids have squared errors
	warm    bool
	rescore bool
	shapes  bool // anchors are chosen by their shapes
	scales  [4]float64
}

const yoloH, yoloW, yoloThresh = 3, 4, 0.3

func (p *yoloProblem) index(image, anchor, channel, cell int) int {
	return ((image*2+anchor)*8+channel)*yoloH*yoloW + cell
}

func sigmoidOf(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

// prediction returns centre and sides.
func (p *yoloProblem) prediction(image, anchor, cell int) [4]float64 {
	at := func(c int) float64 { return p.x[p.index(image, anchor, c, cell)] }
	a := p.anchors[p.own[anchor]]
	return [4]float64{(float64(cell%yoloW) + sigmoidOf(at(0))) / yoloW, (float64(cell/yoloW) + sigmoidOf(at(1))) / yoloH, a[0] * math.Exp(at(2)), a[1] * math.Exp(at(3))}
}

// centredOverlap is the overlap of boxes of centre and sides.
func centredOverlap(a, b [4]float64) float64 {
	both := 1.0
	for k := range 2 {
		both *= max(0, min(a[k]+a[k+2]/2, b[k]+b[k+2]/2)-max(a[k]-a[k+2]/2, b[k]-b[k+2]/2))
	}
	return both / (a[2]*a[3] + b[2]*b[3] - both)
}

// owner returns the prediction of an object, -1 if its anchor is not of this bottom.
func (p *yoloProblem) owner(image int, o [5]float64) (anchor, cell int) {
	cell = int(o[2]*yoloH)*yoloW + int(o[1]*yoloW)
	most, anchor := 0.0, -1
	for i, a := range p.anchors {
		shape := [4]float64{0, 0, a[0], a[1]}
		if !p.shapes {
			shape = p.prediction(image, i, cell)
			shape[0], shape[1] = 0, 0
		}
		if v := centredOverlap(shape, [4]float64{0, 0, o[3], o[4]}); v > most {
			most, anchor = v, i
		}
	}
	for k, i := range p.own {
		if i == anchor {
			return k, cell
		}
	}
	return -1, cell
}

// terms returns the function whose derivative is the gradient, for the predictions' roles at fixed values. squares replaces cross entropies of
// sigmoids by squared errors.
func (p *yoloProblem) terms(squares bool) func() float64 {
	cost := func(x, target float64) float64 {
		if squares {
			return (sigmoidOf(x) - target) * (sigmoidOf(x) - target) / 2
		}
		return -target*math.Log(sigmoidOf(x)) - (1-target)*math.Log(1-sigmoidOf(x))
	}
	var parts []func() float64
	add := func(f func() float64) { parts = append(parts, f) }
	boxes := func(image, anchor, cell int, factor float64, o [4]float64) {
		a, i := p.anchors[p.own[anchor]], func(c int) int { return p.index(image, anchor, c, cell) }
		dw, dh := math.Log(o[2]/a[0]), math.Log(o[3]/a[1])
		add(func() float64 {
			w, h := p.x[i(2)]-dw, p.x[i(3)]-dh
			return factor * (cost(p.x[i(0)], o[0]*yoloW-float64(cell%yoloW)) + cost(p.x[i(1)], o[1]*yoloH-float64(cell/yoloW)) + w*w/2 + h*h/2)
		})
	}
	for image, objects := range p.objects {
		for anchor := range 2 {
			for cell := range yoloH * yoloW {
				p.addPrediction(image, anchor, cell, objects, add, boxes, cost)
			}
		}
	}
	return func() (sum float64) {
		for _, f := range parts {
			sum += f()
		}
		return sum
	}
}

// addPrediction adds the terms of one prediction.
func (p *yoloProblem) addPrediction(image, anchor, cell int, objects [][5]float64, add func(func() float64), boxes func(int, int, int, float64, [4]float64), cost func(x, target float64) float64) {
	at := func(c int) int { return p.index(image, anchor, c, cell) }
	var last *[5]float64
	classes := map[int]bool{}
	best, here := 0.0, p.prediction(image, anchor, cell)
	for k, o := range objects {
		best = max(best, centredOverlap(here, [4]float64(o[1:])))
		if a, c := p.owner(image, o); a == anchor && c == cell {
			if last = &objects[k]; p.region {
				clear(classes)
			}
			classes[int(o[0])] = true
		}
	}
	object, noobject, class, side := p.scales[0], p.scales[1], p.scales[2], p.scales[3]
	if last == nil {
		if best <= yoloThresh {
			add(func() float64 { return noobject * cost(p.x[at(4)], 0) })
		}
		if p.warm {
			a := p.anchors[anchor]
			boxes(image, anchor, cell, 0.01, [4]float64{(float64(cell%yoloW) + 0.5) / yoloW, (float64(cell/yoloW) + 0.5) / yoloH, a[0], a[1]})
		}
		return
	}
	factor, target := side*(2-last[3]*last[4]), 1.0
	if p.rescore {
		factor, target = side, centredOverlap(here, [4]float64(last[1:]))
	}
	boxes(image, anchor, cell, factor, [4]float64(last[1:]))
	add(func() float64 { return object * cost(p.x[at(4)], target) })
	add(func() (sum float64) {
		total := 0.0
		for c := range 3 {
			total += math.Exp(p.x[at(5+c)])
		}
		for c := range 3 {
			switch {
			case p.region && classes[c]:
				sum -= math.Log(math.Exp(p.x[at(5+c)]) / total)
			case p.region:
			case classes[c]:
				sum += cost(p.x[at(5+c)], 1)
			default:
				sum += cost(p.x[at(5+c)], 0)
			}
		}
		return class * sum
	})
}

// derivatives returns central differences.
func (p *yoloProblem) derivatives(f func() float64) []float64 {
	const step = 1e-5
	d := make([]float64, len(p.x))
	for i, v := range p.x {
		p.x[i] = v + step
		up := f()
		p.x[i] = v - step
		d[i], p.x[i] = (up-f())/(2*step), v
	}
	return d
}

// TestYoloLossesByDifferences compares gradients with differences of the papers' functions, whose roles of predictions an independent search
// finds, and the top with the sum of squared errors. Two objects have the same prediction, one belongs to another bottom's anchor, and some
// predictions without object overlap one.
func TestYoloLossesByDifferences(t *testing.T) {
	b := layertest.NewBench(t)
	region := [][2]float64{{1. / yoloW, 0.8 / yoloH}, {2. / yoloW, 3. / yoloH}}
	var third [][2]float64
	for _, a := range [][2]float64{{9, 7}, {30, 5}, {16, 20}} {
		third = append(third, [2]float64{a[0] / (8 * yoloW), a[1] / (8 * yoloH)})
	}
	objects := [2][][5]float64{
		{{1, 0.4, 0.45, 0.25, 0.25}, {2, 0.45, 0.5, 0.26, 0.3}, {0, 0.8, 0.1, 0.6, 0.9}, {1, 0.1, 0.9, 0.95, 0.2}},
		{{0, 0.99, 0.35, 0.5, 0.8}},
	}
	labels := make([]float32, 2*4*5)
	for image, list := range objects {
		for k, o := range list {
			for c, v := range o {
				labels[(image*4+k)*5+c] = float32(v)
			}
			for c := range o {
				objects[image][k][c] = float64(labels[(image*4+k)*5+c])
			}
		}
	}
	labels[31] = 0.5 // behind the end of the second image's list
	x := between(2*16*yoloH*yoloW, -0.9, 1.1)
	r := rand.New(rand.NewPCG(3, 4))
	r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	scales := [4]float64{5, 1.5, 2, 3}
	for _, tt := range []struct {
		typ, param string
		phase      caffepb.Phase
		p          yoloProblem
		top        [4]float64 // the scales of the top's errors
	}{
		{"RegionLoss", regionParam + "}", caffepb.Phase_TRAIN, yoloProblem{anchors: region, own: []int{0, 1}, region: true, squares: true, warm: true, rescore: true, shapes: true, scales: scales}, scales},
		{"RegionLoss", regionParam + "rescore: 0 }", caffepb.Phase_TEST, yoloProblem{anchors: region, own: []int{0, 1}, region: true, squares: true, shapes: true, scales: scales}, scales},
		{"RegionLoss", regionParam + "bias_match: 0 }", caffepb.Phase_TEST, yoloProblem{anchors: region, own: []int{0, 1}, region: true, squares: true, rescore: true, scales: scales}, scales},
		{"Yolov3", yolov3Param + "}", caffepb.Phase_TRAIN, yoloProblem{anchors: third, own: []int{2, 0}, shapes: true, scales: [4]float64{1, 1, 2, 3}}, [4]float64{1, 1, 2, 3}},
		{"Yolov3", yolov3Param + "use_logic_gradient: true }", caffepb.Phase_TRAIN, yoloProblem{anchors: third, own: []int{2, 0}, squares: true, shapes: true, scales: [4]float64{4, 1, 2, 3}}, [4]float64{4, 1, 2, 3}},
	} {
		p := tt.p
		p.objects = objects
		for _, v := range x {
			p.x = append(p.x, float64(v))
		}
		gradient := p.derivatives(p.terms(p.squares))
		errors := gradient
		if !p.region { // the top does not know the sigmoid's derivative
			errors = p.derivatives(p.terms(false))
		}
		var top float64
		for _, e := range errors {
			top += e * e / 2 // 2 images
		}
		want := make([]float32, len(gradient))
		for i, g := range gradient {
			want[i] = float32(3 * g / 2)
		}
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: tt.param, Phase: tt.phase, Bottoms: []layertest.Bottom{layertest.Given(x, 2, 16, yoloH, yoloW), fixed(labels, 2, 20)}})
			layertest.Equal(t, tt.param+" top", f.Forward(t)[0], []float32{float32(top)}, 1e-5)
			bottoms, _ := f.Backward(t, []float32{3})
			layertest.Equal(t, tt.param+" gradient", bottoms[0], want, 1e-5)
		}
	}
}

func TestErrorsOfYoloLosses(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In
	bottoms := []layertest.Bottom{in(1, 16, 3, 4), fixed(make([]float32, 10), 1, 10)}
	for _, tt := range []struct {
		typ, param string
		want       []string
	}{
		{"RegionLoss", "", []string{"num 5 anchors", "it has 0"}},
		{"RegionLoss", "region_loss_param { num: 1 biases: 1 biases: 0 }", []string{"biases must be positive", "anchor 0"}},
		{"RegionLoss", regionParam + "coords: 5 }", []string{"coords must be 4", "are 5"}},
		{"RegionLoss", regionParam + "class_map: 'm' }", []string{"class_map \"m\""}},
		{"Yolov3", "yolov3_param { num: 2 mask: 0 biases: 1 biases: 1 }", []string{"num 2 anchors", "it has 1"}},
		{"Yolov3", "yolov3_param { num: 1 mask: 1 biases: 1 biases: 1 }", []string{"mask has anchor 1", "1 anchors"}},
		{"Yolov3", "yolov3_param { num: 1 mask: 0 biases: 1 biases: 1 num_class: 1 }", []string{"= 6 channels", "1 16 3 4"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: bottoms}, tt.want...)
	}
	wantError(t, b, layertest.Case{Type: "Yolov3", Param: yolov3Param + "}", Bottoms: []layertest.Bottom{in(1, 16, 3, 4), in(1, 7)}}, "rows of class, x, y, w and h", "1 7")
	for _, row := range [][]float32{{3, 0.5, 0.5, 0.1, 0.1}, {0.5, 0.5, 0.5, 0.1, 0.1}, {0, 1.5, 0.5, 0.1, 0.1}, {0, 0.5, 0.5, 0.1, -1}, {0, 0.5, 0.5, float32(math.Inf(1)), 1}} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Yolov3", Param: yolov3Param + "}", Bottoms: []layertest.Bottom{in(1, 16, 3, 4), fixed(row, 1, 5)}})
			if err := f.Layer.Forward(f.Bottom, f.Top); err == nil {
				t.Errorf("%v: no error", row)
			}
		}
	}
}
