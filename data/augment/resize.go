package augment

import (
	"errors"
	"fmt"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"math"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

var interpolations = map[caffepb.ResizeParameter_InterpMode]imageio.Interpolation{
	caffepb.ResizeParameter_LINEAR: imageio.Linear, caffepb.ResizeParameter_AREA: imageio.Area, caffepb.ResizeParameter_NEAREST: imageio.Nearest,
	caffepb.ResizeParameter_CUBIC: imageio.Cubic, caffepb.ResizeParameter_LANCZOS4: imageio.Lanczos4,
}

// checkResizes checks the list of resize_param. The probabilities of several must add up to 1, as in SSD and MobileNet-YOLO.
func checkResizes(list []*caffepb.ResizeParameter) error {
	sum := 0.0
	for i, p := range list {
		if err := checkResize(p); err != nil {
			return err
		}
		if !(p.GetProb() >= 0 && p.GetProb() <= 1) {
			return fmt.Errorf("prob must be between 0 and 1, that of number %d is %g", i, p.GetProb())
		}
		sum += float64(p.GetProb())
	}
	switch {
	case len(list) == 1 && sum != 1:
		return fmt.Errorf("prob %g is not supported for the only resize_param: SSD resizes every image", sum)
	case len(list) > 1 && math.Abs(sum-1) > 0.01:
		return fmt.Errorf("prob of the %d resize_param must add up to 1, the sum is %g", len(list), sum)
	}
	return nil
}

func checkResize(p *caffepb.ResizeParameter) error {
	if h, w := p.GetHeight(), p.GetWidth(); h == 0 || w == 0 || h > math.MaxInt32 || w > math.MaxInt32 {
		return fmt.Errorf("height %d and width %d must both be positive and below 2^31", h, w)
	}
	if (p.GetHeightScale() > 0) != (p.GetWidthScale() > 0) {
		return errors.New("height_scale and width_scale must be set both or neither")
	}
	for _, m := range p.GetInterpMode() {
		if _, ok := interpolations[m]; !ok {
			return fmt.Errorf("unknown interp_mode %v", m)
		}
	}
	return nil
}

// scaledSize returns the size of an image after resizing, without padding. In float32, as in SSD.
func scaledSize(p *caffepb.ResizeParameter, size annotation.Size) annotation.Size {
	to := annotation.Size{Height: int(p.GetHeight()), Width: int(p.GetWidth())}
	if p.GetResizeMode() == caffepb.ResizeParameter_WARP {
		return to
	}
	aspect := float32(size.Width) / float32(size.Height)
	wide := aspect > float32(to.Width)/float32(to.Height)
	if small := p.GetResizeMode() == caffepb.ResizeParameter_FIT_SMALL_SIZE; small && aspect < float32(to.Width)/float32(to.Height) || !small && wide {
		to.Height = int(float32(to.Width) / aspect)
	} else {
		to.Width = int(aspect * float32(to.Height))
	}
	return to
}

// applyResize resizes an image as resize_mode says, with an interpolation drawn from interp_mode, linear if there is none.
func (a *Augmenter) applyResize(im *imageio.Image, d *Draws) (*imageio.Image, error) {
	p := a.resize
	if p == nil {
		return im, nil
	}
	mode := imageio.Linear
	if n := len(p.GetInterpMode()); n > 0 {
		mode = interpolations[p.GetInterpMode()[d.Below(n)]]
	}
	to := scaledSize(p, annotation.Size{Height: im.Height, Width: im.Width})
	if to.Height == 0 || to.Width == 0 {
		return nil, fmt.Errorf("transform_param: resize_param: an image of height %d and width %d would get height %d and width %d", im.Height, im.Width, to.Height, to.Width)
	}
	scaled, err := im.ResizeWith(mode, to.Height, to.Width)
	if err != nil {
		return nil, fmt.Errorf("transform_param: resize_param: %w", err)
	}
	if p.GetResizeMode() != caffepb.ResizeParameter_FIT_LARGE_SIZE_AND_PAD {
		return scaled, nil
	}
	return pad(scaled, p)
}

// pad puts a scaled image into the middle of one of the full size.
func pad(im *imageio.Image, p *caffepb.ResizeParameter) (*imageio.Image, error) {
	pixel, err := fill(p.GetPadValue(), im.Channels)
	if err != nil {
		return nil, fmt.Errorf("transform_param: resize_param: pad_value: %w", err)
	}
	height, width := int(p.GetHeight()), int(p.GetWidth())
	if err := pages.Room(float64(height) * float64(width) * float64(im.Channels)); err != nil {
		return nil, fmt.Errorf("transform_param: resize_param: an image of height %d and width %d: %w", height, width, err)
	}
	top, left := (height-im.Height)/2, (width-im.Width)/2
	out := paint(height, width, pixel)
	if p.GetPadMode() == caffepb.ResizeParameter_CONSTANT {
		paste(out, im, top, left)
		return out, nil
	}
	n := im.Channels
	for y := range height {
		for x := range width {
			fromY, fromX := within(y-top, im.Height), within(x-left, im.Width)
			if p.GetPadMode() == caffepb.ResizeParameter_MIRRORED {
				fromY, fromX = reflect(y-top, im.Height), reflect(x-left, im.Width)
			}
			copy(out.Pix[(y*width+x)*n:][:n], im.Pix[(fromY*im.Width+fromX)*n:])
		}
	}
	return out, nil
}

func within(i, n int) int { return max(0, min(i, n-1)) }

// reflect returns the position that i shows in a mirror at the middle of the first and of the last pixel.
func reflect(i, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	if i = (i%period + period) % period; i >= n {
		i = period - i
	}
	return i
}

// resizeBox returns a box's place in the resized image. For FIT_LARGE_SIZE_AND_PAD the sides of the scaled image are not rounded, as in SSD.
func (a *Augmenter) resizeBox(b box.Box, size annotation.Size) box.Box {
	p := a.resize
	if p == nil {
		return b
	}
	if p.GetResizeMode() != caffepb.ResizeParameter_FIT_LARGE_SIZE_AND_PAD {
		return b.Clip(1, 1)
	}
	b = b.Clip(1, 1)
	height, width := float32(p.GetHeight()), float32(p.GetWidth())
	aspect := float32(size.Width) / float32(size.Height)
	if aspect > width/height {
		b.YMin, b.YMax = padded(b.YMin, b.YMax, width/aspect, height)
	} else {
		b.XMin, b.XMax = padded(b.XMin, b.XMax, aspect*height, width)
	}
	return b
}

// padded moves the ends of a box on an axis on which the scaled image has inner pixels in the middle of outer pixels.
func padded(low, high, inner, outer float32) (float32, float32) {
	margin := (outer - inner) / 2
	return (margin + float32(low*inner)) / outer, (margin + float32(high*inner)) / outer
}

// extrapolate scales a box from the crop to height_scale x width_scale, which FIT_SMALL_SIZE can ask for.
func (a *Augmenter) extrapolate(b box.Box, size annotation.Size, crop box.Box) (box.Box, error) {
	p := a.resize
	if p.GetResizeMode() != caffepb.ResizeParameter_FIT_SMALL_SIZE || p.GetHeightScale() == 0 || p.GetWidthScale() == 0 {
		return b, nil
	}
	height, width := float32(p.GetHeight()), float32(p.GetWidth())
	aspect := float32(size.Width) / float32(size.Height)
	if aspect < width/height {
		height = width / aspect
	} else {
		width = height * aspect
	}
	height, width = height*(crop.YMax-crop.YMin), width*(crop.XMax-crop.XMin)
	h, w := float32(p.GetHeightScale()), float32(p.GetWidthScale())
	if width < w || height < h {
		return b, fmt.Errorf("transform_param: resize_param: the crop of height %g and width %g is smaller than height_scale %g and width_scale %g", height, width, h, w)
	}
	return box.Box{XMin: b.XMin * width / w, YMin: b.YMin * height / h, XMax: b.XMax * width / w, YMax: b.YMax * height / h}, nil
}
