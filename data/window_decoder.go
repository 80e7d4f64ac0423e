package data

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// WindowDecoder turns a window of a WindowList into crop_size x crop_size pixels. It cuts the window out of its image and warps
// it to the crop's size. context_pad first enlarges the window, so that the warped result has this many pixels around it.
// crop_mode "square" first makes the window a square around its centre. Outside the image the result is 0; elsewhere it is (pixel
// - mean) * scale, with the central crop of the mean_file, or with the mean_value.
type WindowDecoder struct {
	t       *Transformer
	size    int
	context int
	square  bool
	scale   float32
}

// NewWindowDecoder checks p. crop_size and the mean come from transform_param, through t; the scale comes from window_data_param,
// as in Caffe.
func NewWindowDecoder(p *caffepb.WindowDataParameter, t *Transformer) (*WindowDecoder, error) {
	d := &WindowDecoder{t: t, size: t.cropHeight, context: int(p.GetContextPad()), square: p.GetCropMode() == "square", scale: p.GetScale()}
	switch {
	case t.cropHeight != t.cropWidth:
		return nil, fmt.Errorf("transform_param: crop_h %d and crop_w %d: windows are warped to a square", t.cropHeight, t.cropWidth)
	case d.size == 0:
		return nil, errors.New("transform_param: crop_size must be positive, it is 0: windows are warped to it")
	case 2*d.context >= d.size:
		return nil, fmt.Errorf("window_data_param: context_pad %d leaves nothing of crop_size %d", d.context, d.size)
	case t.mean != nil && (t.meanShape[0] != 3 || t.meanShape[1] < d.size || t.meanShape[2] < d.size || t.meanShape[1] < t.meanShape[2]):
		return nil, fmt.Errorf("mean_file %s has channels %d, height %d, width %d: windows need 3 channels, a width of crop_size %d or more and no smaller height",
			t.meanFile, t.meanShape[0], t.meanShape[1], t.meanShape[2], d.size)
	case len(t.meanValue) > 1 && len(t.meanValue) != 3:
		return nil, fmt.Errorf("%d times mean_value for windows of 3 channels: give one, or one a channel", len(t.meanValue))
	}
	if err := pages.Room(4 * 3 * float64(d.size) * float64(d.size)); err != nil {
		return nil, fmt.Errorf("transform_param: crop_size %d: %w", d.size, err)
	}
	return d, nil
}

// placed is a part of an image, the size to warp it to, and the result's place in the crop.
type placed struct {
	x1, y1, x2, y2 int
	height, width  int
	top, left      int
}

// Decode implements Decoder.
func (d *WindowDecoder) Decode(r *Record, s *Scratch) (Pixels, int, error) {
	im, err := decodeWindowImage(r, s)
	if err != nil {
		return Pixels{}, 0, err
	}
	r.Repaired = im.Repaired
	p := d.place(r.Window, im)
	if p.x1 < 0 || p.y1 < 0 || p.x2 < p.x1 || p.y2 < p.y1 || p.x2 >= im.Width || p.y2 >= im.Height || p.height < 1 || p.width < 1 {
		w := r.Window
		return Pixels{}, 0, fmt.Errorf("window x %d to %d, y %d to %d is not within the image of width %d and height %d",
			w.X1, w.X2, w.Y1, w.Y2, im.Width, im.Height)
	}
	part, err := cut(im, p).Resize(p.height, p.width)
	if err != nil {
		return Pixels{}, 0, err
	}
	n := 3 * d.size * d.size
	if cap(s.Datum.Floats) < n {
		s.Datum.Floats = make([]float32, n)
	}
	values := s.Datum.Floats[:n]
	clear(values)
	d.paste(values, part, p, r.Window.Mirror)
	return Pixels{
		Channels: 3, Height: d.size, Width: d.size, StrideC: d.size * d.size, StrideY: d.size, StrideX: 1, Floats: values,
	}, r.Label, nil
}

// decodeWindowImage decodes the image of a window. As in Caffe, cached files are read like items of a database.
func decodeWindowImage(r *Record, s *Scratch) (*imageio.Image, error) {
	if len(r.Raw) > 0 {
		return imageio.DecodeItem(r.Raw, imageio.Color)
	}
	file, err := s.readFile(r.Name)
	if err != nil {
		return nil, err
	}
	return imageio.Decode(file, imageio.Color)
}

// place computes context and squares in float32, with Caffe's rounding.
func (d *WindowDecoder) place(w Window, im *imageio.Image) placed {
	p := placed{x1: w.X1, y1: w.Y1, x2: w.X2, y2: w.Y2, height: d.size, width: d.size}
	if d.context == 0 && !d.square {
		return p
	}
	grow := float32(d.size) / float32(d.size-2*d.context)
	halfH, halfW := float32(w.Y2-w.Y1+1)/2, float32(w.X2-w.X1+1)/2
	midX, midY := float32(w.X1)+halfW, float32(w.Y1)+halfH
	if d.square {
		halfH = max(halfH, halfW)
		halfW = halfH
	}
	p.x1, p.x2 = round(midX-float32(halfW*grow)), round(midX+float32(halfW*grow))
	p.y1, p.y2 = round(midY-float32(halfH*grow)), round(midY+float32(halfH*grow))
	scaleX, scaleY := float32(d.size)/float32(p.x2-p.x1+1), float32(d.size)/float32(p.y2-p.y1+1)
	left, right := max(0, -p.x1), max(0, p.x2-im.Width+1)
	above, below := max(0, -p.y1), max(0, p.y2-im.Height+1)
	p.x1, p.x2, p.y1, p.y2 = p.x1+left, p.x2-right, p.y1+above, p.y2-below
	p.top, p.left = round(float32(above)*scaleY), round(float32(left)*scaleX)
	if w.Mirror {
		p.left = round(float32(right) * scaleX)
	}
	p.height = min(round(float32(p.y2-p.y1+1)*scaleY), d.size-p.top)
	p.width = min(round(float32(p.x2-p.x1+1)*scaleX), d.size-p.left)
	return p
}

func round(v float32) int { return int(math.Round(float64(v))) }

// cut copies a part of an image.
func cut(im *imageio.Image, p placed) *imageio.Image {
	part := imageio.New(p.y2-p.y1+1, p.x2-p.x1+1, im.Channels)
	row := part.Width * part.Channels
	for y := range part.Height {
		copy(part.Pix[y*row:][:row], im.Pix[((p.y1+y)*im.Width+p.x1)*im.Channels:])
	}
	return part
}

// paste writes a warped window to its place in the crop.
func (d *WindowDecoder) paste(values []float32, part *imageio.Image, p placed, mirror bool) {
	off := (d.t.meanShape[2] - d.size) / 2
	for y := range part.Height {
		for x := range part.Width {
			from := x
			if mirror {
				from = part.Width - 1 - x
			}
			pixel := part.Pix[(y*part.Width+from)*3:]
			row, col := p.top+y, p.left+x
			for c := range 3 {
				mean := d.t.channelMean(c)
				if d.t.mean != nil {
					mean = d.t.mean[(c*d.t.meanShape[1]+row+off)*d.t.meanShape[2]+col+off]
				}
				values[(c*d.size+row)*d.size+col] = (float32(pixel[c]) - mean) * d.scale
			}
		}
	}
}
