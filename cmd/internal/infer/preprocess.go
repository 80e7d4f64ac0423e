package infer

import (
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/internal/cli"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// preprocessing is how classify and detect turn images into input: as a net's layer says, with the means and the scale of flags in the
// place of its own.
type preprocessing struct {
	mean, values string
	scale        float64
}

// noMean is the -mean that subtracts nothing.
const noMean = "none"

func (p *preprocessing) register(fs *flag.FlagSet) {
	cli.StringVar(fs, &p.mean, "mean", "", "a mean image `FILE`, of which the mean of each channel is subtracted; or the net definition of the training (.prototxt), "+
		"whose data layer in phase TEST then says how images are resized, cropped and scaled and what is subtracted; or none", cli.OneOf(noMean).OrFiles(cli.FileOf(".binaryproto")).OrFiles(cli.Prototxt))
	fs.StringVar(&p.values, "mean_value", "", "a `VALUE` to subtract from pixels, or one for each channel, separated by commas")
	fs.Float64Var(&p.scale, "scale", 0, "the factor for pixels, in the place of transform_param's scale; 0: that of the net")
}

// check validates the flags.
func (p *preprocessing) check() error {
	if p.values != "" && p.mean != "" && !p.ofTraining() {
		return cli.Usagef("-mean %s and -mean_value %s: use one of them", p.mean, p.values)
	}
	_, err := p.meanValues()
	return err
}

// ofTraining reports whether -mean names the net of the training.
func (p *preprocessing) ofTraining() bool { return filepath.Ext(p.mean) == ".prototxt" }

func (p *preprocessing) meanValues() (values []float32, err error) {
	if p.values == "" {
		return nil, nil
	}
	for _, word := range strings.Split(p.values, ",") {
		v, err := strconv.ParseFloat(word, 64) // rounded through a double, like the numbers of a prototxt
		if err != nil {
			return nil, cli.Usagef("-mean_value %s: %q is not a number", p.values, word)
		}
		values = append(values, float32(v))
	}
	return values, nil
}

// of returns the preprocessing for the input of a net for deployment.
func (p *preprocessing) of(e *cli.Env, model string, input *blob.Blob) (*data.Preprocessor, error) {
	file := model
	if p.ofTraining() {
		file = p.mean
	}
	layer, err := statement(e, file)
	if err != nil {
		return nil, err
	}
	s := input.Shape()
	made, err := data.NewPreprocessor(layer, [3]int(s[1:]))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	means, err := p.meanValues()
	switch {
	case err != nil:
		return nil, err
	case p.mean == noMean, means != nil:
		err = made.SetMean(means)
	case p.mean != "" && !p.ofTraining():
		if means, err = channelMeans(p.mean, s[1]); err == nil {
			err = made.SetMean(means)
		}
	}
	if err == nil && p.scale != 0 {
		err = made.SetScale(p.scale)
	}
	return made, err
}

// statement returns the first layer of a net in phase TEST that says how images become input.
func statement(e *cli.Env, model string) (*caffepb.LayerParameter, error) {
	var flags cli.StateFlags
	file, err := cli.ReadNet(e, model, &flags)
	if err != nil {
		return nil, err
	}
	layers, _, err := swnet.Filter(file.Param, flags.StateOver(file, caffepb.Phase_TEST))
	if err != nil {
		return nil, err
	}
	for _, l := range layers.Layer {
		if data.StatesPreprocessing(l) {
			return l, nil
		}
	}
	return nil, fmt.Errorf("%s: no layer in phase TEST says how images become input (Data, ImageData, AnnotatedData, MemoryData and Input layers do)", model)
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
	means := make([]float32, channels)
	for c, mean := range data.ChannelMeans(b, channels) {
		means[c] = float32(mean)
	}
	return means, nil
}

// imageInput returns the net's only input, which must have 1 or 3 channels.
func imageInput(n *swnet.Net, model string) (*blob.Blob, error) {
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		b := n.Tops(i)[0]
		if s := b.Shape(); len(s) != 4 || s[1] != 1 && s[1] != 3 || b.Count() == 0 {
			return nil, fmt.Errorf("%s: the input is %s; it should be images x 1 or 3 channels x height x width, none of them 0", model, b.ShapeString())
		}
		return b, nil
	}
	return nil, fmt.Errorf("%s has no Input layer; is it a net for deployment?", model)
}
