package augment

import (
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// TestChoiceOfSizes: with batches of 4, the 40 items of ten batches have one size, and sizes are as frequent as their probabilities. Other seeds
// choose otherwise.
func TestChoiceOfSizes(t *testing.T) {
	a := augmenter(t, "resize_param { prob: 0.5 height: 5 width: 6 } resize_param { prob: 0 height: 1 width: 1 } resize_param { prob: 0.2 height: 7 width: 8 } resize_param { prob: 0.3 height: 9 width: 9 }")
	a.SetBatch(4)
	height := func(seed, item uint64) int {
		im, _, _, err := a.Of(seed, item).Apply(imageio.New(20, 20, 3), nil, NewDraws(seed, item))
		if err != nil {
			t.Fatal(err)
		}
		return im.Height
	}
	const rounds = 2000
	counts, other := map[int]int{}, 0
	for round := range uint64(rounds) {
		h := height(3, 40*round)
		counts[h]++
		for _, item := range []uint64{1, 3, 4, 39} {
			if got := height(3, 40*round+item); got != h {
				t.Fatalf("item %d of round %d has height %d, the first %d", item, round, got, h)
			}
		}
		if height(4, 40*round) != h {
			other++
		}
	}
	for h, p := range map[int]float64{5: 0.5, 1: 0, 7: 0.2, 9: 0.3} {
		if got := float64(counts[h]) / rounds; math.Abs(got-p) > 0.04 { // four deviations of a mean of 2000
			t.Errorf("height %d has frequency %g, want %g", h, got, p)
		}
	}
	if want := rounds * (1 - 0.25 - 0.04 - 0.09); math.Abs(float64(other)-want) > 90 {
		t.Errorf("another seed chooses otherwise in %d rounds, want about %g", other, want)
	}
}

// TestJitter: the part that yolo_data_jitter leaves has sides of at least 1 - jitter, reaches every border, and objects move with it.
func TestJitter(t *testing.T) {
	annotated := &caffepb.AnnotatedDataParameter{YoloDataType: proto.Uint32(1), YoloDataJitter: proto.Float32(0.4)}
	a, err := New(transformation(t, ""), annotated)
	if err != nil {
		t.Fatal(err)
	}
	least, lowest, highest := float32(1), float32(1), float32(0)
	for item := range uint64(500) {
		sample, ok := a.sample(nil, NewDraws(5, item))
		if !ok || sample.XMin < 0 || sample.YMin < 0 || sample.XMax > 1 || sample.YMax > 1 || sample.Width() < 0.6-1e-6 || sample.Height() < 0.6-1e-6 {
			t.Fatalf("item %d: sample %v, %v", item, sample, ok)
		}
		least, lowest, highest = min(least, sample.Width(), sample.Height()), min(lowest, sample.XMin, sample.YMin), max(highest, sample.XMax, sample.YMax)
		im, objects, _, err := a.Apply(imageio.New(100, 100, 3), []annotation.Object{{Label: 1, Box: box.Box{XMin: 0.45, YMin: 0.45, XMax: 0.55, YMax: 0.55}}}, NewDraws(5, item))
		if err != nil || len(objects) != 1 {
			t.Fatalf("item %d: %d objects, %v", item, len(objects), err)
		}
		if got, want := objects[0].Box.Width(), 0.1/sample.Width(); math.Abs(float64(got-want)) > 1e-5 || math.Abs(float64(im.Width)-100*float64(sample.Width())) > 1 {
			t.Fatalf("item %d: the object has width %g, want %g, the image %d", item, got, want, im.Width)
		}
	}
	if least > 0.605 || lowest > 0.002 || highest < 0.998 {
		t.Errorf("the least side is %g, parts reach from %g to %g", least, lowest, highest)
	}
	for _, jitter := range []float32{-0.1, 1} {
		annotated.YoloDataJitter = proto.Float32(jitter)
		if _, err := New(transformation(t, ""), annotated); err == nil || !strings.Contains(err.Error(), "yolo_data_jitter must be at least 0 and below 1") {
			t.Errorf("jitter %g: error %v", jitter, err)
		}
	}
}
