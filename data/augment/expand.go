package augment

import (
	"fmt"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"math"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// mostExpand limits max_expand_ratio. SSD's nets use 4.
const mostExpand = 1000

func checkExpand(p *caffepb.ExpansionParameter) error {
	if r := p.GetMaxExpandRatio(); p != nil && !(r >= 1 && r <= mostExpand) {
		return fmt.Errorf("max_expand_ratio %g is not between 1 and %d", r, mostExpand)
	}
	return nil
}

// applyExpand places the image at random in a larger one, 1 to max_expand_ratio times as high and wide, which the mean fills. It returns the
// large image's box in the coordinates of the small one.
func (a *Augmenter) applyExpand(im *imageio.Image, d *Draws) (*imageio.Image, box.Box, error) {
	p := a.expand
	if p == nil || d.Uniform(0, 1) > p.GetProb() || math.Abs(float64(p.GetMaxExpandRatio())-1) < 1e-2 {
		return im, annotation.Unit, nil
	}
	ratio := d.Uniform(1, p.GetMaxExpandRatio())
	height, width := int(float32(im.Height)*ratio), int(float32(im.Width)*ratio)
	if err := pages.Room(float64(height) * float64(width) * float64(im.Channels)); err != nil {
		return nil, box.Box{}, fmt.Errorf("transform_param: expand_param: an image of height %d and width %d: %w", height, width, err)
	}
	pixel, err := fill(a.mean, im.Channels)
	if err != nil {
		return nil, box.Box{}, fmt.Errorf("transform_param: mean_value: %w", err)
	}
	top, left := int(d.Uniform(0, float32(height-im.Height))), int(d.Uniform(0, float32(width-im.Width)))
	large := paint(height, width, pixel)
	paste(large, im, top, left)
	w, h := float32(im.Width), float32(im.Height)
	return large, box.Box{
		XMin: -float32(left) / w, YMin: -float32(top) / h, XMax: float32(width-left) / w, YMax: float32(height-top) / h,
	}, nil
}
