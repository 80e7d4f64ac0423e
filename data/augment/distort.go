package augment

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func checkDistort(p *caffepb.DistortionParameter) error {
	for _, c := range []struct {
		name               string
		prob, lower, upper float32
	}{
		{"brightness", p.GetBrightnessProb(), 0, p.GetBrightnessDelta()},
		{"contrast", p.GetContrastProb(), p.GetContrastLower(), p.GetContrastUpper()},
		{"saturation", p.GetSaturationProb(), p.GetSaturationLower(), p.GetSaturationUpper()},
		{"hue", p.GetHueProb(), 0, p.GetHueDelta()},
	} {
		if c.prob > 0 && !(c.lower >= 0 && c.upper >= c.lower && c.upper <= math.MaxFloat32) {
			return fmt.Errorf("%s: the bounds %g and %g must not be negative, nor the first above the second", c.name, c.lower, c.upper)
		}
	}
	return nil
}

// applyDistort changes the colours. Half of the images change their contrast before the saturation and the hue, the others behind these.
func (a *Augmenter) applyDistort(im *imageio.Image, d *Draws) (*imageio.Image, error) {
	p := a.distort
	if p == nil {
		return im, nil
	}
	if a.needsColours() && im.Channels != 3 {
		return nil, fmt.Errorf("transform_param: distort_param: saturation, hue and order of channels need an image of 3 channels, it has %d "+
			"(force_color makes them)", im.Channels)
	}
	contrastFirst := d.Uniform(0, 1) > 0.5
	im = brightness(im, d, p)
	if contrastFirst {
		im = contrast(im, d, p)
	}
	im = saturation(im, d, p)
	im = hue(im, d, p)
	if !contrastFirst {
		im = contrast(im, d, p)
	}
	return reorder(im, d, p.GetRandomOrderProb()), nil
}

func brightness(im *imageio.Image, d *Draws, p *caffepb.DistortionParameter) *imageio.Image {
	if d.Uniform(0, 1) >= p.GetBrightnessProb() {
		return im
	}
	return im.Scaled(-1, 1, d.Uniform(-p.GetBrightnessDelta(), p.GetBrightnessDelta()))
}

// contrast leaves the image alone if the factor is very near to 1.
func contrast(im *imageio.Image, d *Draws, p *caffepb.DistortionParameter) *imageio.Image {
	if d.Uniform(0, 1) >= p.GetContrastProb() {
		return im
	}
	factor := d.Uniform(p.GetContrastLower(), p.GetContrastUpper())
	if math.Abs(float64(factor-1)) <= 1e-3 {
		return im
	}
	return im.Scaled(-1, factor, 0)
}

func saturation(im *imageio.Image, d *Draws, p *caffepb.DistortionParameter) *imageio.Image {
	if d.Uniform(0, 1) >= p.GetSaturationProb() {
		return im
	}
	return im.ToHSV().Scaled(1, d.Uniform(p.GetSaturationLower(), p.GetSaturationUpper()), 0).FromHSV()
}

// hue adds to the hue. As in SSD the sum is limited to a byte, so that a hue below 0 becomes 0.
func hue(im *imageio.Image, d *Draws, p *caffepb.DistortionParameter) *imageio.Image {
	if d.Uniform(0, 1) >= p.GetHueProb() {
		return im
	}
	delta := d.Uniform(-p.GetHueDelta(), p.GetHueDelta())
	if delta == 0 {
		return im
	}
	return im.ToHSV().Scaled(0, 1, delta).FromHSV()
}

// reorder permutes the channels; all six orders are equally likely.
func reorder(im *imageio.Image, d *Draws, prob float32) *imageio.Image {
	if d.Uniform(0, 1) >= prob {
		return im
	}
	order := [3]int{0, 1, 2}
	for i := 2; i > 0; i-- {
		j := d.Below(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	out := imageio.New(im.Height, im.Width, 3)
	for i := 0; i < len(im.Pix); i += 3 {
		for c, from := range order {
			out.Pix[i+c] = im.Pix[i+from]
		}
	}
	return out
}
