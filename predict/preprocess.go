package predict

import (
	"errors"
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Preprocessing says how images become the net's input. By default it is what the net's Input layer states in its transform_param.
type Preprocessing struct {
	Training string    // the net definition of the training, whose data layer in phase TEST says it instead: size, crop, mean and scale
	MeanFile string    // a mean image (.binaryproto), of which the mean of each channel is subtracted in the place of the stated mean
	Mean     []float32 // the value to subtract in its place, or one for each channel
	NoMean   bool      // subtract nothing
	Scale    float64   // the factor for pixels in the place of the stated one; 0: that
}

// stated reports whether the caller asks for any preprocessing of images.
func (p *Preprocessing) stated() bool {
	return p.Training != "" || p.MeanFile != "" || len(p.Mean) > 0 || p.NoMean || p.Scale != 0
}

// preprocessor returns the preprocessing for images.
func (m *Model) preprocessor() (*data.Preprocessor, error) {
	shape, err := m.imageShape()
	if err != nil {
		return nil, err
	}
	p, file := &m.opt.Preprocessing, m.opt.Net
	if p.Training != "" {
		file = p.Training
	}
	layer, err := m.statement(file)
	if err != nil {
		return nil, err
	}
	made, err := data.NewPreprocessor(layer, shape)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	means := p.Mean
	if p.MeanFile != "" && len(means) == 0 && !p.NoMean {
		if means, err = channelMeans(p.MeanFile, shape[0]); err != nil {
			return nil, err
		}
	}
	if p.NoMean || len(means) > 0 {
		err = made.SetMean(means)
	}
	if err == nil && p.Scale != 0 {
		err = made.SetScale(p.Scale)
	}
	return made, err
}

// imageShape returns the shape of an item of the net's only input, which images have 1 or 3 channels for.
func (m *Model) imageShape() (shape [3]int, err error) {
	if len(m.inputs) > 1 {
		var names []string
		for _, in := range m.inputs {
			names = append(names, in.Name)
		}
		return shape, fmt.Errorf("%s has %d inputs (%s): images are for a net with one; Session.Run takes arrays", m.opt.Net, len(names), strings.Join(names, ", "))
	}
	s := m.inputs[0].Shape
	if len(s) != 4 || s[1] != 1 && s[1] != 3 || blob.CountOf(s...) == 0 {
		return shape, fmt.Errorf("%s: the input is %s; it should be images x 1 or 3 channels x height x width, none of them 0", m.opt.Net, shapeString(s))
	}
	return [3]int(s[1:]), nil
}

// statement returns the first layer of a net in phase TEST that says how images become input.
func (m *Model) statement(path string) (*caffepb.LayerParameter, error) {
	file, state := m.file, m.state
	if path != m.opt.Net {
		var err error
		if file, state, err = readNet(path, m.opt.Log); err != nil {
			return nil, err
		}
	}
	filtered, _, err := swnet.Filter(file.Param, state)
	if err != nil {
		return nil, err
	}
	for _, l := range filtered.Layer {
		if data.StatesPreprocessing(l) {
			return l, nil
		}
	}
	return nil, fmt.Errorf("%s: no layer in phase TEST says how images become input (Data, ImageData, AnnotatedData, MemoryData and Input layers do)", path)
}

// channelMeans returns the mean of each channel of a mean image, as Caffe's classification example subtracts it.
func channelMeans(file string, channels int) ([]float32, error) {
	var p caffepb.BlobProto
	if err := swproto.ReadBinary(file, &p); err != nil {
		return nil, err
	}
	b := blob.New(0)
	if err := b.FromProto(&p); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s := b.Shape()
	if len(s) < 3 || s[len(s)-3] != channels {
		return nil, fmt.Errorf("%s: the mean is %s, the net's input has %d channels", file, b.ShapeString(), channels)
	}
	if err := data.CheckMean(b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	means := make([]float32, channels)
	for c, mean := range data.ChannelMeans(b, channels) {
		means[c] = float32(mean)
	}
	return means, nil
}

// errCrops says why boxes are not found in parts of images.
var errCrops = errors.New("the preprocessing crops images or adds borders, so that boxes would not be those of the whole image: detect needs a transform_param without crop_size, whose resize_mode is WARP")
