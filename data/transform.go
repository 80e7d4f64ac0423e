package data

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpixel"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Purposes of an item's random draws.
const (
	drawMirror = iota
	drawCropY
	drawCropX
	drawWindow
)

// Transformer applies a transform_param, like Caffe's DataTransformer:
//
//	y[c][h][w] = (x[c][h+top][w'+left] - mean) * scale,  w' = w, or width-1-w when mirrored
//
// The mean is mean_file's value at the same place of the uncropped image, or the channel's mean_value. The crop is random in the
// TRAIN phase and central, rounded down, in TEST. Mirroring is random in both. SSD's crop_h and crop_w stand for a crop_size that is not
// square. Decoders apply the other fields that SSD added.
type Transformer struct {
	scale      float32
	mirror     bool
	cropHeight int // 0: no crop, as for the width
	cropWidth  int
	train      bool
	mode       imageio.Mode
	pads       bool    // images smaller than the crop are filled up below and on the right
	padding    float32 // with this value, which is not transformed

	meanFile  string
	mean      []float32 // mean_file's values, channels x height x width
	meanShape [3]int
	meanValue []float32
}

// NewTransformer is NewImageTransformer for decoders that apply none of the fields that SSD added. It refuses them.
func NewTransformer(p *caffepb.TransformationParameter, phase caffepb.Phase) (*Transformer, error) {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"resize_param", len(p.GetResizeParam()) > 0}, {"noise_param", p.GetNoiseParam() != nil}, {"distort_param", p.GetDistortParam() != nil},
		{"expand_param", p.GetExpandParam() != nil}, {"emit_constraint", p.GetEmitConstraint() != nil},
	} {
		if f.set {
			return nil, fmt.Errorf("transform_param: %s is supported in AnnotatedData, Data and ImageData layers only", f.name)
		}
	}
	return NewImageTransformer(p, phase)
}

// NewImageTransformer checks p and reads its mean file. The decoder applies the fields that SSD added.
func NewImageTransformer(p *caffepb.TransformationParameter, phase caffepb.Phase) (*Transformer, error) {
	t := &Transformer{
		scale: p.GetScale(), mirror: p.GetMirror(), cropHeight: int(p.GetCropSize()), cropWidth: int(p.GetCropSize()),
		train: phase == caffepb.Phase_TRAIN, meanFile: p.GetMeanFile(), meanValue: p.GetMeanValue(),
	}
	if h, w := int(p.GetCropH()), int(p.GetCropW()); h != 0 || w != 0 {
		if t.cropHeight != 0 || h == 0 || w == 0 {
			return nil, fmt.Errorf("transform_param: crop_h %d and crop_w %d must both be set, without a crop_size (%d)", h, w, t.cropHeight)
		}
		t.cropHeight, t.cropWidth = h, w
	}
	if err := checkMeanValues(t.meanValue); err != nil {
		return nil, fmt.Errorf("transform_param: %w", err)
	}
	switch {
	case p.GetForceColor() && p.GetForceGray():
		return nil, errors.New("transform_param: force_color and force_gray cannot both be set")
	case p.GetForceColor():
		t.mode = imageio.Color
	case p.GetForceGray():
		t.mode = imageio.Gray
	}
	if p.GetMeanFile() == "" {
		return t, nil
	}
	if len(t.meanValue) > 0 {
		return nil, errors.New("transform_param: mean_file and mean_value cannot both be set")
	}
	return t, t.readMean()
}

// readMean reads a binary BlobProto of 1 x channels x height x width values.
func (t *Transformer) readMean() error {
	var p caffepb.BlobProto
	if err := swproto.ReadBinary(t.meanFile, &p); err != nil {
		return fmt.Errorf("mean_file: %w", err)
	}
	var b blob.Blob
	if err := b.FromProto(&p); err != nil {
		return fmt.Errorf("mean_file %s: %w", t.meanFile, err)
	}
	if b.Count() == 0 {
		return fmt.Errorf("mean_file %s: it has no values for shape %v: the file ends early or is damaged", t.meanFile, b.Shape())
	}
	if err := CheckMean(&b); err != nil {
		return fmt.Errorf("mean_file %s: %w", t.meanFile, err)
	}
	shape := b.Shape()
	for len(shape) > 3 && shape[0] == 1 {
		shape = shape[1:]
	}
	if len(shape) > 3 {
		return fmt.Errorf("mean_file %s: shape %v is not 1 x channels x height x width", t.meanFile, b.Shape())
	}
	t.meanShape = [3]int{1, 1, 1}
	copy(t.meanShape[3-len(shape):], shape)
	t.mean = b.Data()
	return nil
}

// Mode says how to decode the image of an encoded datum.
func (t *Transformer) Mode() imageio.Mode { return t.mode }

// Shape returns channels, height and width of the result for p. An image that cannot be transformed is an error.
func (t *Transformer) Shape(p Pixels) (shape [3]int, err error) {
	if height, width := t.padded(p); t.cropHeight > height || t.cropWidth > width {
		if t.cropHeight == t.cropWidth {
			return shape, fmt.Errorf("crop_size %d is larger than the data: height %d, width %d", t.cropHeight, p.Height, p.Width)
		}
		return shape, fmt.Errorf("crop_h %d, crop_w %d are larger than the data: height %d, width %d", t.cropHeight, t.cropWidth, p.Height, p.Width)
	}
	if t.mean != nil && t.meanShape != [3]int{p.Channels, p.Height, p.Width} {
		return shape, fmt.Errorf("mean_file %s has channels %d, height %d, width %d, the data has channels %d, height %d, width %d",
			t.meanFile, t.meanShape[0], t.meanShape[1], t.meanShape[2], p.Channels, p.Height, p.Width)
	}
	if n := len(t.meanValue); n > 1 && n != p.Channels {
		return shape, fmt.Errorf("%d times mean_value for data of %d channels: give one, or one a channel", n, p.Channels)
	}
	if t.cropHeight > 0 {
		return [3]int{p.Channels, t.cropHeight, t.cropWidth}, nil
	}
	return [3]int{p.Channels, p.Height, p.Width}, nil
}

// Transform writes p, transformed, to dst. shape is the batch's channels x height x width, the size of dst. Random draws depend
// on seed and item only.
func (t *Transformer) Transform(dst []float32, shape [3]int, p Pixels, seed, item uint64) error {
	own, err := t.Shape(p)
	if err != nil {
		return err
	}
	if own != shape {
		remedy := "crop_size or new_height and new_width make them"
		if own[0] != shape[0] {
			remedy = "force_color: true or force_gray: true makes encoded images agree in their channels"
		}
		return fmt.Errorf("channels %d, height %d, width %d, but the batch has channels %d, height %d, width %d: items of one batch must agree (%s)",
			own[0], own[1], own[2], shape[0], shape[1], shape[2], remedy)
	}
	top, left := t.corner(p, seed, item)
	mirrored := t.mirrors(seed, item)
	for c := range shape[0] {
		for y := range shape[1] {
			whole := dst[(c*shape[1]+y)*shape[2]:][:shape[2]]
			row := t.pad(whole, p, y+top, left)
			from := c*p.StrideC + (y+top)*p.StrideY + left*p.StrideX
			switch {
			case len(row) == 0:
			case t.mean == nil && p.Bytes != nil:
				vpixel.Pick(row, p.Bytes[from:], p.StrideX, t.channelMean(c), t.scale)
			case t.mean == nil:
				gather(row, p.Floats[from:], p.StrideX)
				t.subtract(row, t.channelMean(c))
			default:
				if p.Bytes != nil {
					gather(row, p.Bytes[from:], p.StrideX)
				} else {
					gather(row, p.Floats[from:], p.StrideX)
				}
				t.subtractMean(row, t.mean[(c*p.Height+y+top)*p.Width+left:])
			}
			if mirrored {
				slices.Reverse(whole)
			}
		}
	}
	return nil
}

// corner returns the top left pixel of the crop.
func (t *Transformer) corner(p Pixels, seed, item uint64) (top, left int) {
	height, width := t.padded(p)
	switch {
	case t.cropHeight == 0:
		return 0, 0
	case t.train:
		return draw(seed, item, drawCropY, height-t.cropHeight+1), draw(seed, item, drawCropX, width-t.cropWidth+1)
	}
	return (height - t.cropHeight) / 2, (width - t.cropWidth) / 2
}

// frame returns the crop as a box in the image.
func (t *Transformer) frame(p Pixels, seed, item uint64) box.Box {
	if t.cropHeight == 0 {
		return annotation.Unit
	}
	top, left := t.corner(p, seed, item)
	h, w := float32(p.Height), float32(p.Width)
	return box.Box{
		XMin: float32(left) / w, YMin: float32(top) / h, XMax: float32(left+t.cropWidth) / w, YMax: float32(top+t.cropHeight) / h,
	}
}

// mirrors reports whether an item is mirrored.
func (t *Transformer) mirrors(seed, item uint64) bool {
	return t.mirror && draw(seed, item, drawMirror, 2) == 1
}

func (t *Transformer) channelMean(c int) float32 {
	switch len(t.meanValue) {
	case 0:
		return 0
	case 1:
		return t.meanValue[0]
	}
	return t.meanValue[c]
}
