package data

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/data/augment"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Preprocessor turns images into items of a net's input as a data layer of phase TEST does: it resizes them, takes the crop from the
// centre, subtracts the mean and multiplies by the scale. It neither mirrors nor damages them. It has no state that changes: several
// goroutines may use it.
type Preprocessor struct {
	decoder     ImageDecoder
	transformer *Transformer
	shape       [3]int
}

// statedSize returns the size to which a layer's own fields resize images, 0 if they do not. Layers of other types state no preprocessing.
func statedSize(l *caffepb.LayerParameter) (height, width int, err error) {
	switch l.GetType() {
	case "Data", "AnnotatedData", "MemoryData", "Input":
		return 0, 0, nil
	case "ImageData":
		p := l.GetImageDataParam()
		return int(p.GetNewHeight()), int(p.GetNewWidth()), nil
	}
	return 0, 0, fmt.Errorf("a layer of type %s does not say how images become input", l.GetType())
}

// StatesPreprocessing reports whether a layer says how images become a net's input.
func StatesPreprocessing(l *caffepb.LayerParameter) bool {
	_, _, err := statedSize(l)
	return err == nil
}

// NewPreprocessor returns the preprocessing that a layer states, for an input of channels x height x width. Images are resized to the
// first of these sizes that is stated: new_height and new_width, a resize_param, the size of the mean file's image, the size of the
// first item in the layer's database, the input's size. With a crop, the last one counts only in Input and MemoryData layers.
func NewPreprocessor(l *caffepb.LayerParameter, shape [3]int) (*Preprocessor, error) {
	p, err := newPreprocessor(l, shape)
	if err != nil {
		return nil, fmt.Errorf("layer %q: %w", l.GetName(), err)
	}
	return p, nil
}

func newPreprocessor(l *caffepb.LayerParameter, shape [3]int) (*Preprocessor, error) {
	height, width, err := statedSize(l)
	if err != nil {
		return nil, err
	}
	param := caffepb.TransformationParameter{}
	if l.TransformParam != nil {
		proto.Merge(&param, l.TransformParam)
	}
	param.Mirror, param.ForceColor, param.ForceGray = nil, nil, nil
	t, err := NewImageTransformer(&param, caffepb.Phase_TEST)
	if err != nil {
		return nil, err
	}
	p := &Preprocessor{transformer: t, shape: shape, decoder: ImageDecoder{Height: height, Width: width, Mode: imageio.Color}}
	switch shape[0] {
	case 1:
		p.decoder.Mode = imageio.Gray
	case 3:
	default:
		return nil, fmt.Errorf("the net's input has %d channels; images have 1 or 3", shape[0])
	}
	if r := param.GetResizeParam(); len(r) > 0 {
		if p.decoder.Augmenter, err = augment.New(&caffepb.TransformationParameter{ResizeParam: r}, nil); err != nil {
			return nil, err
		}
	} else if p.decoder.Height == 0 {
		if err := p.findSize(l); err != nil {
			return nil, err
		}
	}
	return p, p.fits()
}

// findSize sets the size to which images are resized, where the layer does not name one.
func (p *Preprocessor) findSize(l *caffepb.LayerParameter) error {
	d, t := &p.decoder, p.transformer
	switch {
	case t.mean != nil:
		d.Height, d.Width = t.meanShape[1], t.meanShape[2]
	case l.GetType() == "Data" || l.GetType() == "AnnotatedData":
		item, err := firstItem(l, t)
		if err == nil {
			d.Height, d.Width = item.Height, item.Width
		} else if t.cropHeight > 0 {
			return fmt.Errorf("images are cropped, but their size before that is unknown: %w (transform_param { resize_param } or the size of a mean_file would state it)", err)
		}
	case l.GetType() == "ImageData" && t.cropHeight > 0:
		return nil // images are cropped as they are
	}
	if d.Height == 0 {
		d.Height, d.Width = p.shape[1], p.shape[2]
	}
	return nil
}

// firstItem reads the first item of a layer's database.
func firstItem(l *caffepb.LayerParameter, t *Transformer) (Pixels, error) {
	source, err := OpenDB(l.GetDataParam())
	if err != nil {
		return Pixels{}, err
	}
	var r Record
	var decoder Decoder = DatumDecoder{Transformer: t}
	if l.GetType() == "AnnotatedData" {
		plain, err := augment.New(nil, nil)
		if err != nil {
			return Pixels{}, errors.Join(err, source.Close())
		}
		decoder = AnnotatedDecoder{Transformer: &Transformer{scale: 1}, Augmenter: plain}
	}
	err = source.Next(&r)
	var p Pixels
	if err == nil {
		p, _, err = decoder.Decode(&r, new(Scratch))
	}
	return p, errors.Join(err, source.Close())
}

// fits returns an error if the results certainly differ in size from the net's input.
func (p *Preprocessor) fits() error {
	height, width := p.transformer.cropHeight, p.transformer.cropWidth
	if height == 0 {
		height, width = p.decoder.Height, p.decoder.Width
	}
	if p.decoder.Augmenter == nil && height > 0 && (height != p.shape[1] || width != p.shape[2]) {
		return fmt.Errorf("it makes images of height %d and width %d, the net's input has height %d and width %d", height, width, p.shape[1], p.shape[2])
	}
	return nil
}

// Crops reports whether the input is a part of the image, or the image with a border.
func (p *Preprocessor) Crops() bool {
	return p.transformer.cropHeight > 0 || p.decoder.Augmenter != nil && !p.decoder.Augmenter.Warps()
}

// checkMeanValues returns an error for a mean without a value.
func checkMeanValues(values []float32) error {
	for i, v := range values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("mean value %d is %g, not a finite number", i, v)
		}
	}
	return nil
}

// SetMean replaces the mean: one value, or one for each channel.
func (p *Preprocessor) SetMean(values []float32) error {
	if n := len(values); n > 1 && n != p.shape[0] {
		return fmt.Errorf("there are %d mean values, but the net's input has %d channels", n, p.shape[0])
	}
	if err := checkMeanValues(values); err != nil {
		return err
	}
	t := p.transformer
	t.mean, t.meanFile, t.meanValue = nil, "", values
	return nil
}

// SetScale replaces the scale.
func (p *Preprocessor) SetScale(scale float64) error {
	if math.IsNaN(scale) || math.IsInf(scale, 0) {
		return fmt.Errorf("the scale is %g", scale)
	}
	p.transformer.scale = float32(scale)
	return nil
}

// Picture is what Read and Decode say of an image beside its item.
type Picture struct {
	Height, Width int    // of the upright image, before it was resized
	Repaired      string // damage of the file that was passed over, as in imageio.Image
}

// Read writes an image file's item, channels x height x width, to dst.
func (p *Preprocessor) Read(dst []float32, path string) (Picture, error) {
	file, err := regular.ReadFile(path)
	if err != nil {
		return Picture{}, err // it names the file
	}
	picture, err := p.Decode(dst, file)
	if err != nil {
		return Picture{}, fmt.Errorf("%s: %w", path, err)
	}
	return picture, nil
}

// Decode is Read for the bytes of a file.
func (p *Preprocessor) Decode(dst []float32, file []byte) (Picture, error) {
	im, err := p.decoder.decode(file)
	if err != nil {
		return Picture{}, err
	}
	picture := Picture{im.Height, im.Width, im.Repaired}
	if im.Original[0] > 0 {
		picture.Height, picture.Width = im.Original[0], im.Original[1]
	}
	pixels, err := p.decoder.pixels(im, 0)
	if err != nil {
		return Picture{}, err
	}
	return picture, p.transformer.Transform(dst, p.shape, pixels, 0, 0)
}

// Mode is that of images for Put.
func (p *Preprocessor) Mode() imageio.Mode { return p.decoder.Mode }

// Put writes the item of an image of that mode to dst. It leaves the image as it is.
func (p *Preprocessor) Put(dst []float32, im *imageio.Image) error {
	if d := p.decoder; d.Height > 0 {
		var err error
		if im, err = im.Resize(d.Height, d.Width); err != nil {
			return err
		}
	}
	pixels, err := p.decoder.pixels(im, 0)
	if err != nil {
		return err
	}
	return p.transformer.Transform(dst, p.shape, pixels, 0, 0)
}
