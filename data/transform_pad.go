package data

import "github.com/swcaffe/swcaffe/proto/caffepb"

// NewPaddingTransformer is NewTransformer for crops that may be larger than images, which are then filled up below and on the right. The padding
// is the result's value there.
func NewPaddingTransformer(p *caffepb.TransformationParameter, phase caffepb.Phase, padding float32) (*Transformer, error) {
	t, err := NewTransformer(p, phase)
	if err == nil {
		t.pads, t.padding = true, padding
	}
	return t, err
}

// padded returns height and width of an image after padding.
func (t *Transformer) padded(p Pixels) (height, width int) {
	if !t.pads {
		return p.Height, p.Width
	}
	return max(p.Height, t.cropHeight), max(p.Width, t.cropWidth)
}

// pad writes the padding of a row of the crop, which is row y of the image and begins at column left, and returns the part that the image fills.
func (t *Transformer) pad(row []float32, p Pixels, y, left int) []float32 {
	if !t.pads {
		return row
	}
	n := min(len(row), p.Width-left)
	if y >= p.Height {
		n = 0
	}
	for i := n; i < len(row); i++ {
		row[i] = t.padding
	}
	return row[:n]
}
