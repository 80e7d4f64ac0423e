// Package augment changes annotated images at random, for training detectors as SSD does (Liu et al. 2016, section 2.2). Its central type is
// the Augmenter, which takes an image and its objects through these steps, each of them optional:
//
//	distort_param    brightness, contrast, saturation, hue and order of channels
//	expand_param     the image becomes a part of a larger one, which the mean fills
//	batch_sampler    a part of the image is cut out; or by yolo_data_jitter
//	resize_param     the image gets the net's size
//	noise_param      the image is damaged
//
// Every step also moves the objects' boxes, and drops objects outside the image or against the emit_constraint. The crop and the mirror of
// transform_param come last. The Transformer of package data does them to the pixels, and Finish to the boxes.
//
// The arithmetic is OpenCV's, through package imageio. SSD compresses the image as a JPEG between steps; the Augmenter does not.
package augment

import (
	"errors"
	"fmt"
	"github.com/swcaffe/swcaffe/internal/base/box"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Augmenter changes images and their objects. Behind SetBatch it has no state: several goroutines may use it.
type Augmenter struct {
	distort  *caffepb.DistortionParameter
	expand   *caffepb.ExpansionParameter
	samplers []*caffepb.BatchSampler
	resize   *caffepb.ResizeParameter
	noise    *caffepb.NoiseParameter
	emit     *caffepb.EmitConstraint
	mean     []float32 // what fills an expanded image: one value, one a channel, or none for 0
	jitter   float32   // the part of an image's sides that is cut off at most, if there are no samplers

	choices []*Augmenter // for each of several resize_param
	total   float32      // of their probabilities
	span    uint64       // items for which one of them is chosen
}

// New checks the parameters. Errors name the field.
func New(p *caffepb.TransformationParameter, annotated *caffepb.AnnotatedDataParameter) (*Augmenter, error) {
	a := &Augmenter{
		distort: p.GetDistortParam(), expand: p.GetExpandParam(), samplers: annotated.GetBatchSampler(),
		noise: p.GetNoiseParam(), emit: p.GetEmitConstraint(), mean: p.GetMeanValue(), span: 1,
	}
	if annotated.GetYoloDataType() != 0 {
		a.jitter = annotated.GetYoloDataJitter()
	}
	if !(a.jitter >= 0 && a.jitter < 1) {
		return nil, fmt.Errorf("annotated_data_param: yolo_data_jitter must be at least 0 and below 1, it is %g", a.jitter)
	}
	for i, s := range a.samplers {
		if err := checkSampler(s); err != nil {
			return nil, fmt.Errorf("annotated_data_param: batch_sampler %d: %w", i, err)
		}
	}
	if a.expand != nil && p.GetMeanFile() != "" {
		return nil, errors.New("transform_param: expand_param fills the image with mean_value; mean_file has no value for places outside the image")
	}
	for _, c := range []struct {
		name string
		err  error
	}{
		{"distort_param", checkDistort(a.distort)}, {"expand_param", checkExpand(a.expand)}, {"resize_param", checkResizes(p.GetResizeParam())},
		{"noise_param", checkNoise(a.noise)},
	} {
		if c.err != nil {
			return nil, fmt.Errorf("transform_param: %s: %w", c.name, c.err)
		}
	}
	a.choose(p.GetResizeParam())
	return a, nil
}

// Apply takes an image through the steps. It returns the image, the objects with the boxes before resizing, in the storage of objects, and
// the image's size before resizing; Finish needs both.
func (a *Augmenter) Apply(im *imageio.Image, objects []annotation.Object, d *Draws) (*imageio.Image, []annotation.Object, annotation.Size, error) {
	im, err := a.applyDistort(im, d)
	if err != nil {
		return nil, nil, annotation.Size{}, err
	}
	im, frame, err := a.applyExpand(im, d)
	if err != nil {
		return nil, nil, annotation.Size{}, err
	}
	if frame != annotation.Unit {
		objects = a.within(objects, frame)
	}
	if sample, ok := a.sample(objects, d); ok {
		im, objects = cut(im, sample), a.within(objects, sample.Clip(1, 1))
	}
	size := annotation.Size{Height: im.Height, Width: im.Width}
	if im, err = a.applyResize(im, d); err == nil {
		im, err = a.applyNoise(im, d)
	}
	return im, objects, size, err
}

// Finish returns the objects as the net sees them: after the resizing of an image of the given size, in the crop, and mirrored. It reuses
// the storage of objects.
func (a *Augmenter) Finish(objects []annotation.Object, size annotation.Size, crop box.Box, mirrored bool) ([]annotation.Object, error) {
	for i := range objects {
		objects[i].Box = a.resizeBox(objects[i].Box, size)
	}
	objects = a.within(objects, crop)
	for i := range objects {
		if mirrored {
			objects[i].Box = annotation.Mirror(objects[i].Box)
		}
		placed, err := a.extrapolate(objects[i].Box, size, crop)
		if err != nil {
			return nil, err
		}
		objects[i].Box = placed
	}
	return objects, nil
}

// within keeps the objects that are in a part of the image and meet the emit_constraint, with boxes clipped to the part and relative to it.
func (a *Augmenter) within(objects []annotation.Object, frame box.Box) []annotation.Object {
	kept := objects[:0]
	for _, o := range objects {
		if a.emit != nil && !emitted(a.emit, o.Box, frame) {
			continue
		}
		projected, ok := annotation.Project(o.Box, frame)
		if !ok {
			continue
		}
		o.Box = projected
		kept = append(kept, o)
	}
	return kept
}

// emitted reports whether a box meets an emit_constraint: its centre lies in the frame, or more than emit_overlap of its area.
func emitted(e *caffepb.EmitConstraint, b, frame box.Box) bool {
	if e.GetEmitType() == caffepb.EmitConstraint_MIN_OVERLAP {
		return box.Coverage(b, frame) > e.GetEmitOverlap()
	}
	x, y := (b.XMin+b.XMax)/2, (b.YMin+b.YMax)/2
	return x >= frame.XMin && x <= frame.XMax && y >= frame.YMin && y <= frame.YMax
}

// needsColours reports whether a step is defined for images of 3 channels only.
func (a *Augmenter) needsColours() bool {
	d := a.distort
	return d.GetSaturationProb() > 0 || d.GetHueProb() > 0 || d.GetRandomOrderProb() > 0
}

// fill returns the values, one a channel, that fields with one value or one a channel mean; none means 0.
func fill(values []float32, channels int) ([]byte, error) {
	pixel := make([]byte, channels)
	if n := len(values); n > 1 && n != channels {
		return nil, fmt.Errorf("%d values for an image of %d channels: give one, or one a channel", n, channels)
	}
	for c := range pixel {
		if len(values) > 0 {
			pixel[c] = saturate(values[min(c, len(values)-1)])
		}
	}
	return pixel, nil
}

// paint makes an image of one colour.
func paint(height, width int, pixel []byte) *imageio.Image {
	im := imageio.New(height, width, len(pixel))
	for i := range im.Pix {
		im.Pix[i] = pixel[i%len(pixel)]
	}
	return im
}

// paste copies an image to a place in a larger one.
func paste(to, from *imageio.Image, top, left int) {
	row := from.Width * from.Channels
	for y := range from.Height {
		copy(to.Pix[((top+y)*to.Width+left)*to.Channels:], from.Pix[y*row:][:row])
	}
}
