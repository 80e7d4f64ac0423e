package augment

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func checkNoise(p *caffepb.NoiseParameter) error {
	for _, c := range []struct {
		name string
		set  bool
	}{
		{"hist_eq", p.GetHistEq()}, {"gauss_blur", p.GetGaussBlur()}, {"jpeg", p.GetJpeg() > 0}, {"clahe", p.GetClahe()}, {"convert_to_lab", p.GetConvertToLab()},
	} {
		if c.set {
			return fmt.Errorf("%s is not supported (supported: inverse, decolorize, posterize, erode, saltpepper, convert_to_hsv)", c.name)
		}
	}
	if p.GetSaltpepper() {
		s := p.GetSaltpepperParam()
		if f := s.GetFraction(); !(f >= 0 && f <= 1) {
			return fmt.Errorf("saltpepper_param: fraction %g is not between 0 and 1", f)
		}
		if len(s.GetValue()) == 0 {
			return errors.New("saltpepper_param: value is missing: give one, or one a channel")
		}
	}
	return nil
}

// applyNoise damages the image. As in SSD, prob is not asked: a step that is switched on happens to every image.
func (a *Augmenter) applyNoise(im *imageio.Image, d *Draws) (*imageio.Image, error) {
	p := a.noise
	if p == nil {
		return im, nil
	}
	if (p.GetDecolorize() || p.GetConvertToHsv()) && im.Channels != 3 {
		return nil, fmt.Errorf("transform_param: noise_param: decolorize and convert_to_hsv need an image of 3 channels, it has %d", im.Channels)
	}
	if p.GetDecolorize() {
		im = im.Luma()
	}
	if p.GetErode() {
		im = im.Erode()
	}
	if p.GetPosterize() {
		im = mapped(im, func(v byte) byte { return v/64*64 + 32 })
	}
	if p.GetInverse() {
		im = mapped(im, func(v byte) byte { return 255 - v })
	}
	if p.GetSaltpepper() {
		s := p.GetSaltpepperParam()
		pixel, err := fill(s.GetValue(), im.Channels)
		if err != nil {
			return nil, fmt.Errorf("transform_param: noise_param: saltpepper_param: %w", err)
		}
		im = mapped(im, func(v byte) byte { return v })
		for range int(float32(s.GetFraction()*float32(im.Width)) * float32(im.Height)) {
			x, y := d.Below(im.Width), d.Below(im.Height)
			copy(im.Pix[(y*im.Width+x)*im.Channels:], pixel)
		}
	}
	if p.GetConvertToHsv() {
		im = im.ToHSV()
	}
	return im, nil
}

// mapped returns an image of f's values.
func mapped(im *imageio.Image, f func(v byte) byte) *imageio.Image {
	out := imageio.New(im.Height, im.Width, im.Channels)
	for i, v := range im.Pix {
		out.Pix[i] = f(v)
	}
	return out
}

// saturate rounds to the nearest byte, halves to the even one.
func saturate(v float32) byte { return byte(max(0, min(255, math.RoundToEven(float64(v))))) }
