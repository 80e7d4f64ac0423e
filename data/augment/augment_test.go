package augment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
)

func transformation(t testing.TB, text string) *caffepb.TransformationParameter {
	t.Helper()
	p := &caffepb.TransformationParameter{}
	if err := prototext.Unmarshal([]byte(text), p); err != nil {
		t.Fatal(err)
	}
	return p
}

func augmenter(t testing.TB, text string, samplers ...string) *Augmenter {
	t.Helper()
	var list []*caffepb.BatchSampler
	for _, s := range samplers {
		b := &caffepb.BatchSampler{}
		if err := prototext.Unmarshal([]byte(s), b); err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	a, err := New(transformation(t, text), &caffepb.AnnotatedDataParameter{BatchSampler: list})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// scene is a black image with a rectangle of a grey of its own for each object. The rectangles do not overlap.
func scene(r *rand.Rand, height, width int) (*imageio.Image, []annotation.Object) {
	im := imageio.New(height, width, 3)
	var objects []annotation.Object
	for k := range 4 { // one in each quarter
		h, w := height/2, width/2
		x0, y0 := k%2*w+r.IntN(w/2), k/2*h+r.IntN(h/2)
		x1, y1 := x0+3+r.IntN(w/2-3), y0+3+r.IntN(h/2-3)
		for y := y0; y < y1; y++ {
			for i := 3 * x0; i < 3*x1; i++ {
				im.Pix[y*3*width+i] = grey(k)
			}
		}
		objects = append(objects, annotation.Object{Label: k, Box: box.Box{
			XMin: float32(x0) / float32(width), YMin: float32(y0) / float32(height), XMax: float32(x1) / float32(width), YMax: float32(y1) / float32(height),
		}})
	}
	return im, objects
}

func grey(k int) byte { return byte(50 + 50*k) }

// TestBoxesFollowPixels: behind every step the boxes are the extents of the rectangles that are still to be seen.
func TestBoxesFollowPixels(t *testing.T) {
	const sample = `sampler { min_scale: 0.3 max_scale: 0.9 min_aspect_ratio: 0.5 max_aspect_ratio: 2 } sample_constraint { min_object_coverage: 0.4 } max_sample: 1`
	for name, a := range map[string]*Augmenter{
		"nothing": augmenter(t, ""), "expand": augmenter(t, "expand_param { max_expand_ratio: 3 } mean_value: 7"), "sample": augmenter(t, "", sample),
		"warp":  augmenter(t, "resize_param { height: 90 width: 120 interp_mode: NEAREST }"),
		"small": augmenter(t, "resize_param { resize_mode: FIT_SMALL_SIZE height: 80 width: 90 interp_mode: NEAREST }"),
		"large": augmenter(t, "resize_param { resize_mode: FIT_LARGE_SIZE_AND_PAD height: 100 width: 100 interp_mode: NEAREST pad_value: 3 }"),
		"all": augmenter(t, `expand_param { prob: 0.5 max_expand_ratio: 2 } resize_param { resize_mode: FIT_LARGE_SIZE_AND_PAD height: 150 width: 110
			interp_mode: NEAREST }`, sample, `use_original_image: true max_sample: 1 max_trials: 1`),
	} {
		seen := 0
		r := rand.New(rand.NewPCG(3, uint64(len(name))))
		for k := range 400 {
			im, objects := scene(r, 40+r.IntN(80), 40+r.IntN(80))
			im, objects, size, err := a.Apply(im, objects, NewDraws(9, uint64(k)))
			if err != nil {
				t.Fatal(err)
			}
			x, y := r.IntN(im.Width/3), r.IntN(im.Height/3)
			w, h := im.Width/2, im.Height/2
			mirrored := k%2 == 1
			crop := box.Box{XMin: float32(x), YMin: float32(y), XMax: float32(x + w), YMax: float32(y + h)}.Scale(1/float32(im.Width), 1/float32(im.Height))
			if objects, err = a.Finish(objects, size, crop, mirrored); err != nil {
				t.Fatal(err)
			}
			// A cut and a resize round by up to a pixel each, which the resize enlarges.
			slack := 2 + 2*float64(max(float32(im.Width)/float32(size.Width), float32(im.Height)/float32(size.Height)))
			shown := crops(im, x, y, w, h, mirrored)
			for label := range 4 {
				at := slices.IndexFunc(objects, func(o annotation.Object) bool { return o.Label == label })
				x0, y0, x1, y1 := extent(shown, grey(label))
				if at < 0 {
					if float64(min(x1-x0, y1-y0)) > slack {
						t.Fatalf("%s %d: object %d is in x %d to %d, y %d to %d but has no box", name, k, label, x0, x1, y0, y1)
					}
					continue
				}
				b := objects[at].Box.Scale(float32(w), float32(h))
				if x1 < x0 {
					if min(float64(b.Width()), float64(b.Height())) > slack {
						t.Fatalf("%s %d: object %d has the box %v but is not to be seen", name, k, label, b)
					}
					continue
				}
				seen++
				for i, d := range [4]float32{b.XMin - float32(x0), b.YMin - float32(y0), b.XMax - float32(x1), b.YMax - float32(y1)} {
					if math.Abs(float64(d)) > slack {
						t.Fatalf("%s %d: side %d of object %d is off by %g: box %v, pixels x %d to %d, y %d to %d", name, k, i, label, d, b, x0, x1, y0, y1)
					}
				}
			}
		}
		if seen < 100 {
			t.Errorf("%s: %d objects were seen", name, seen)
		}
	}
}

func crops(im *imageio.Image, x, y, w, h int, mirrored bool) *imageio.Image {
	out := imageio.New(h, w, 3)
	for i := range w * h {
		from := i % w
		if mirrored {
			from = w - 1 - from
		}
		copy(out.Pix[3*i:3*i+3], im.Pix[((y+i/w)*im.Width+x+from)*3:])
	}
	return out
}

func extent(im *imageio.Image, value byte) (x0, y0, x1, y1 int) {
	x0, y0 = im.Width, im.Height
	for i := range im.Width * im.Height {
		if im.Pix[3*i] == value {
			x, y := i%im.Width, i/im.Width
			x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x+1), max(y1, y+1)
		}
	}
	return x0, y0, x1, y1
}

// TestSamplers compares the samplers with an oracle in float64, which takes the same draws, finds intersections axis by axis, and looks for an
// object that meets every bound. Cases within 1e-5 of a bound are left out.
func TestSamplers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	sampled, left := 0, 0
	for k := range 2000 {
		a := &Augmenter{}
		for range 1 + r.IntN(3) {
			lo := float32(0.1 + 0.8*r.Float64())
			ratio := float32(0.3 + r.Float64())
			text := fmt.Sprintf("sampler { min_scale: %g max_scale: %g min_aspect_ratio: %g max_aspect_ratio: %g } max_trials: %d", lo, min(1, lo+0.3), ratio, ratio*2, r.IntN(20))
			if r.IntN(2) == 0 {
				text += fmt.Sprintf(" max_sample: %d", r.IntN(4))
			}
			var bounds []string
			for _, what := range []string{"jaccard_overlap", "sample_coverage", "object_coverage"} {
				if r.IntN(3) == 0 {
					bounds = append(bounds, fmt.Sprintf("min_%s: %g", what, r.Float64()/2))
				}
				if r.IntN(4) == 0 {
					bounds = append(bounds, fmt.Sprintf("max_%s: %g", what, 0.3+r.Float64()/2))
				}
			}
			s := augmenter(t, "", text+" sample_constraint { "+strings.Join(bounds, " ")+" }").samplers[0]
			a.samplers = append(a.samplers, s)
		}
		var objects []annotation.Object
		for range r.IntN(4) {
			x, y := r.Float32()*0.7, r.Float32()*0.7
			objects = append(objects, annotation.Object{Box: box.Box{XMin: x, YMin: y, XMax: x + 0.3*r.Float32(), YMax: y + 0.3*r.Float32()}})
		}
		got, ok := a.sample(objects, NewDraws(7, uint64(k)))
		want, wantOK, close := slowSample(a.samplers, objects, NewDraws(7, uint64(k)))
		if close {
			left++
			continue
		}
		if ok != wantOK {
			t.Fatalf("case %d: sampled %v, want %v", k, ok, wantOK)
		}
		if !ok {
			continue
		}
		sampled++
		for i, v := range [4]float32{got.XMin, got.YMin, got.XMax, got.YMax} {
			if math.Abs(float64(v)-want[i]) > 1e-5 || v < 0 || v > 1+1e-6 {
				t.Fatalf("case %d: box %v, want %v", k, got, want)
			}
		}
	}
	if sampled < 500 || left > 100 {
		t.Errorf("%d of 2000 cases gave boxes, %d were too close to a bound", sampled, left)
	}
}

func slowSample(samplers []*caffepb.BatchSampler, objects []annotation.Object, d *Draws) (chosen [4]float64, ok, close bool) {
	var all [][4]float64
	for _, s := range samplers {
		n := 0
		for trial := 0; trial < int(s.GetMaxTrials()) && (s.MaxSample == nil || n < int(s.GetMaxSample())); trial++ {
			p := s.GetSampler()
			scale := float64(d.Uniform(p.GetMinScale(), p.GetMaxScale()))
			ratio := math.Min(math.Max(float64(d.Uniform(p.GetMinAspectRatio(), p.GetMaxAspectRatio())), scale*scale), 1/(scale*scale))
			w, h := math.Min(1, scale*math.Sqrt(ratio)), math.Min(1, scale/math.Sqrt(ratio))
			x, y := float64(d.Uniform(0, 1))*(1-w), float64(d.Uniform(0, 1))*(1-h)
			b := [4]float64{x, y, x + w, y + h}
			good, near := slowMeets(s.GetSampleConstraint(), b, objects)
			close = close || near
			if good {
				all = append(all, b)
				n++
			}
		}
	}
	if len(all) == 0 {
		return chosen, false, close
	}
	return all[d.Below(len(all))], true, close
}

func slowMeets(c *caffepb.SampleConstraint, b [4]float64, objects []annotation.Object) (good, near bool) {
	bounds := [][2]*float32{{c.MinJaccardOverlap, c.MaxJaccardOverlap}, {c.MinSampleCoverage, c.MaxSampleCoverage}, {c.MinObjectCoverage, c.MaxObjectCoverage}}
	constrained := false
	for _, p := range bounds {
		constrained = constrained || p[0] != nil || p[1] != nil
	}
	if !constrained {
		return true, false
	}
	for _, o := range objects {
		q := [4]float64{float64(o.Box.XMin), float64(o.Box.YMin), float64(o.Box.XMax), float64(o.Box.YMax)}
		both := math.Max(0, math.Min(b[2], q[2])-math.Max(b[0], q[0])) * math.Max(0, math.Min(b[3], q[3])-math.Max(b[1], q[1]))
		mine, its := (b[2]-b[0])*(b[3]-b[1]), (q[2]-q[0])*(q[3]-q[1])
		all := true
		for i, v := range []float64{both / (mine + its - both), both / mine, both / its} {
			if p := bounds[i][0]; p != nil {
				all, near = all && v >= float64(*p), near || math.Abs(v-float64(*p)) < 1e-5
			}
			if p := bounds[i][1]; p != nil {
				all, near = all && v <= float64(*p), near || math.Abs(v-float64(*p)) < 1e-5
			}
		}
		good = good || all
	}
	return good, near
}

// TestEmit: an emit_constraint drops objects by their centre or by the share in the frame; without one, any share will do.
func TestEmit(t *testing.T) {
	frame := box.Box{XMin: 0, YMin: 0, XMax: 0.5, YMax: 1}
	boxes := []box.Box{{XMin: 0.1, YMin: 0.1, XMax: 0.2, YMax: 0.2}, {XMin: 0.3, YMin: 0, XMax: 0.6, YMax: 1}, {XMin: 0.45, YMin: 0, XMax: 0.65, YMax: 1}, {XMin: 0.6, YMin: 0, XMax: 0.7, YMax: 1}}
	for text, want := range map[string][]int{
		"": {0, 1, 2}, "emit_constraint { }": {0, 1}, "emit_constraint { emit_type: MIN_OVERLAP emit_overlap: 0.2 }": {0, 1, 2},
		"emit_constraint { emit_type: MIN_OVERLAP emit_overlap: 0.3 }": {0, 1}, "emit_constraint { emit_type: MIN_OVERLAP emit_overlap: 0.7 }": {0},
	} {
		var objects []annotation.Object
		for i, b := range boxes {
			objects = append(objects, annotation.Object{Label: i, Box: b})
		}
		var got []int
		for _, o := range augmenter(t, text).within(objects, frame) {
			got = append(got, o.Label)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestHeightScale: FIT_SMALL_SIZE can give boxes in units of height_scale and width_scale, and refuses a crop that is smaller.
func TestHeightScale(t *testing.T) {
	a := augmenter(t, "resize_param { resize_mode: FIT_SMALL_SIZE height: 100 width: 100 height_scale: 50 width_scale: 40 }")
	objects := []annotation.Object{{Box: box.Box{XMin: 0.1, YMin: 0.2, XMax: 0.5, YMax: 0.6}}}
	got, err := a.Finish(objects, annotation.Size{Height: 30, Width: 60}, annotation.Unit, false) // resized to 100 x 200
	if err != nil {
		t.Fatal(err)
	}
	if b := got[0].Box; math.Abs(float64(b.XMin-0.5)) > 1e-6 || math.Abs(float64(b.YMax-1.2)) > 1e-6 {
		t.Errorf("box %v", b)
	}
	objects = []annotation.Object{{Box: annotation.Unit}}
	_, err = a.Finish(objects, annotation.Size{Height: 30, Width: 60}, box.Box{XMin: 0.1, YMin: 0, XMax: 0.2, YMax: 1}, false)
	if err == nil || !strings.Contains(err.Error(), "is smaller than height_scale 50 and width_scale 40") {
		t.Errorf("a crop smaller than width_scale: %v", err)
	}
}
