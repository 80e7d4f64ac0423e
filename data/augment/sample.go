package augment

import (
	"errors"
	"fmt"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"math"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func checkSampler(b *caffepb.BatchSampler) error {
	s := b.GetSampler()
	if !(s.GetMinScale() > 0 && s.GetMaxScale() >= s.GetMinScale() && s.GetMaxScale() <= 1) {
		return fmt.Errorf("min_scale %g and max_scale %g: they must be above 0 and up to 1, in this order", s.GetMinScale(), s.GetMaxScale())
	}
	if !(s.GetMinAspectRatio() > 0 && s.GetMaxAspectRatio() >= s.GetMinAspectRatio() && s.GetMaxAspectRatio() < math.MaxFloat32) {
		return fmt.Errorf("min_aspect_ratio %g and max_aspect_ratio %g: they must be above 0, in this order", s.GetMinAspectRatio(), s.GetMaxAspectRatio())
	}
	if b.GetMaxTrials() > 1<<20 {
		return errors.New("max_trials is above 2^20")
	}
	return nil
}

// sample draws boxes with every batch_sampler and returns one of those that meet their constraints. ok is false if there are none. As in
// SSD, a sampler with use_original_image: false draws nothing. yolo_data_jitter draws one box, as in MobileNet-YOLO.
func (a *Augmenter) sample(objects []annotation.Object, d *Draws) (sampled box.Box, ok bool) {
	if len(a.samplers) == 0 && a.jitter > 0 {
		width, height := d.Uniform(1-a.jitter, 1), d.Uniform(1-a.jitter, 1)
		x, y := d.Uniform(0, 1-width), d.Uniform(0, 1-height)
		return box.Box{XMin: x, YMin: y, XMax: x + width, YMax: y + height}, true
	}
	var boxes []box.Box
	for _, s := range a.samplers {
		if !s.GetUseOriginalImage() {
			continue
		}
		found := uint32(0)
		for range s.GetMaxTrials() {
			if s.MaxSample != nil && found >= s.GetMaxSample() {
				break
			}
			if b := drawBox(s.GetSampler(), d); meets(s.GetSampleConstraint(), b, objects) {
				boxes = append(boxes, b)
				found++
			}
		}
	}
	if len(boxes) == 0 {
		return box.Box{}, false
	}
	return boxes[d.Below(len(boxes))], true
}

// drawBox draws a box within the image: its scale, the root of its area, its aspect ratio, and its place.
func drawBox(s *caffepb.Sampler, d *Draws) box.Box {
	scale := d.Uniform(s.GetMinScale(), s.GetMaxScale())
	aspect := d.Uniform(s.GetMinAspectRatio(), s.GetMaxAspectRatio())
	square := float64(scale) * float64(scale)
	aspect = min(max(aspect, float32(square)), float32(1/square))
	root := float32(math.Sqrt(float64(aspect)))
	width, height := min(scale*root, 1), min(scale/root, 1)
	x, y := d.Uniform(0, 1-width), d.Uniform(0, 1-height)
	return box.Box{XMin: x, YMin: y, XMax: x + width, YMax: y + height}
}

// meets reports whether some object meets all constraints at once. Without constraints every box is good, also without objects.
func meets(c *caffepb.SampleConstraint, b box.Box, objects []annotation.Object) bool {
	if c == nil || c.MinJaccardOverlap == nil && c.MaxJaccardOverlap == nil && c.MinSampleCoverage == nil && c.MaxSampleCoverage == nil &&
		c.MinObjectCoverage == nil && c.MaxObjectCoverage == nil {
		return true
	}
	for _, o := range objects {
		if between(c.MinJaccardOverlap, box.Overlap(b, o.Box), c.MaxJaccardOverlap) && between(c.MinSampleCoverage, box.Coverage(b, o.Box), c.MaxSampleCoverage) &&
			between(c.MinObjectCoverage, box.Coverage(o.Box, b), c.MaxObjectCoverage) {
			return true
		}
	}
	return false
}

func between(lo *float32, v float32, hi *float32) bool {
	return (lo == nil || v >= *lo) && (hi == nil || v <= *hi)
}

// cut returns the part of an image in a box. The part has at least one pixel.
func cut(im *imageio.Image, b box.Box) *imageio.Image {
	b = b.Clip(1, 1)
	w, h := float32(im.Width), float32(im.Height)
	left, top := min(int(b.XMin*w), im.Width-1), min(int(b.YMin*h), im.Height-1)
	width, height := int(float32(b.XMax*w)-float32(b.XMin*w)), int(float32(b.YMax*h)-float32(b.YMin*h))
	width, height = max(1, min(width, im.Width-left)), max(1, min(height, im.Height-top))
	part := imageio.New(height, width, im.Channels)
	row := width * im.Channels
	for y := range height {
		copy(part.Pix[y*row:][:row], im.Pix[((top+y)*im.Width+left)*im.Channels:])
	}
	return part
}
