package infer

import (
	"cmp"
	"flag"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/internal/testreport"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/events"
)

// Classify is the command classify.
var Classify = cli.Command{
	Name:     "classify",
	Synopsis: "name what images show",
	Args:     "DEPLOY WEIGHTS MEAN LABELS IMAGE [-top 5] [-scale 1]",
	Example:  "swcaffe classify deploy.prototxt net.caffemodel mean.binaryproto labels.txt cat.jpg",
	Words:    []string{"model", "weights", "mean", "labels", "image"},
	Quiet:    true,
	Help: `Scales an image to the size of the net's input, subtracts the mean of each channel (MEAN may be "none"), runs the net and prints the
labels with the largest outputs, as Caffe's classification example does. LABELS has a label a line, or is SSD's LabelMap, or "none".
As there, nothing else is printed: -logtostderr shows the log.`,
	Do: cli.With(classifyFlags, classify),
}

func classifyFlags(fs *flag.FlagSet, o *classifyOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` for deployment (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.StringVar(fs, &o.mean, "mean", "", "the mean image `FILE`, or none", cli.OneOf("none").OrFiles(cli.FileOf(".binaryproto")))
	cli.StringVar(fs, &o.labels, "labels", "", "the `FILE` of labels, or none", cli.OneOf("none").OrFiles(cli.AnyFile))
	cli.StringVar(fs, &o.image, "image", "", "the image `FILE`", cli.AnyFile)
	cli.OutputVar(fs, &o.json, "json", "write the labels to `FILE` as well (docs/json.md); -: to standard output, alone")
	fs.IntVar(&o.top, "top", 5, "how many labels to print")
	fs.Float64Var(&o.scale, "scale", 1, "the factor for pixels, like transform_param's scale in training")
	o.device.Register(fs)
}

type classifyOptions struct {
	model, weights, mean, labels, image, json string
	top                                       int
	scale                                     float64
	device                                    cli.DeviceFlags
}

func classify(e *cli.Env, o *classifyOptions) error {
	if o.model == "" || o.weights == "" || o.mean == "" || o.labels == "" || o.image == "" {
		return cli.Usagef("need five words: swcaffe classify DEPLOY WEIGHTS MEAN LABELS IMAGE")
	}
	if o.top < 1 {
		return cli.Usagef("-top %d: at least one label is needed", o.top)
	}
	t := trained{device: &o.device, model: o.model, weights: o.weights, seed: o.device.SeedOrTime()}
	return t.use(e, func(n *swnet.Net) error { return o.run(e, n) })
}

// run classifies the image and prints the most probable labels.
func (o *classifyOptions) run(e *cli.Env, n *swnet.Net) error {
	input, err := o.input(n)
	if err != nil {
		return err
	}
	if err := o.load(input); err != nil {
		return err
	}
	if _, err := n.Forward(); err != nil {
		return err
	}
	outputs := n.Outputs()
	if len(outputs) != 1 {
		return fmt.Errorf("%s has %d outputs, a classifier has one", o.model, len(outputs))
	}
	scores := outputs[0].Blob.Data()[:outputs[0].Blob.Count()/input.Shape()[0]]
	labels, err := o.names(len(scores))
	if err != nil {
		return err
	}
	report := classifyReport{Image: o.image, Predictions: []prediction{}}
	fmt.Fprintf(e.Tables, "---------- Prediction for %s ----------\n", o.image)
	for _, i := range largest(scores, o.top) {
		fmt.Fprintf(e.Tables, "%.4f - %q\n", scores[i], labels[i])
		report.Predictions = append(report.Predictions, prediction{i, labels[i], events.Number(scores[i])})
	}
	return e.WriteJSON(o.json, report)
}

// classifyReport is the file of -json.
type classifyReport struct {
	Image       string       `json:"image"`
	Predictions []prediction `json:"predictions"`
}

type prediction struct {
	Class int           `json:"class"`
	Label string        `json:"label"`
	Score events.Number `json:"score"`
}

// input returns the net's only input, which must have 1 or 3 channels.
func (o *classifyOptions) input(n *swnet.Net) (*blob.Blob, error) {
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		b := n.Tops(i)[0]
		if s := b.Shape(); len(s) != 4 || s[1] != 1 && s[1] != 3 || b.Count() == 0 {
			return nil, fmt.Errorf("%s: the input is %s; it should be images x 1 or 3 channels x height x width, none of them 0", o.model, b.ShapeString())
		}
		return b, nil
	}
	return nil, fmt.Errorf("%s has no Input layer; is it a net for deployment?", o.model)
}

// load copies the image into every item of the input's batch.
func (o *classifyOptions) load(input *blob.Blob) error {
	s := input.Shape()
	mode := imageio.Color
	if s[1] == 1 {
		mode = imageio.Gray
	}
	file, err := regular.ReadFile(o.image)
	if err != nil {
		return err
	}
	im, _, err := imageio.DecodeResized(file, mode, s[2], s[3])
	if err != nil {
		return fmt.Errorf("%s: %w", o.image, err)
	}
	means, err := o.channelMeans(s[1])
	if err != nil {
		return err
	}
	plane := s[2] * s[3]
	for i, v := range im.Planes() {
		value := (float32(v) - means[i/plane]) * float32(o.scale)
		for k := range s[0] {
			input.Data()[k*len(im.Pix)+i] = value
		}
	}
	return nil
}

// channelMeans returns the mean of each channel of the mean image.
func (o *classifyOptions) channelMeans(channels int) ([]float32, error) {
	means := make([]float32, channels)
	if o.mean == "none" {
		return means, nil
	}
	var p caffepb.BlobProto
	if err := swproto.ReadBinary(o.mean, &p); err != nil {
		return nil, err
	}
	b := blob.New(0)
	if err := b.FromProto(&p); err != nil {
		return nil, fmt.Errorf("%s: %w", o.mean, err)
	}
	s := b.Shape()
	if len(s) < 3 || s[len(s)-3] != channels {
		return nil, fmt.Errorf("%s: the mean is %s, the net's input has %d channels", o.mean, b.ShapeString(), channels)
	}
	for c, mean := range data.ChannelMeans(b, channels) {
		means[c] = float32(mean)
	}
	return means, nil
}

// names reads the labels, one for each of the n outputs.
func (o *classifyOptions) names(n int) ([]string, error) {
	if o.labels == "none" {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("class %d", i)
		}
		return names, nil
	}
	names, err := testreport.ReadLabels(o.labels)
	if err != nil {
		return nil, err
	}
	if len(names) != n {
		return nil, fmt.Errorf("%s: number of labels (%d) is different from the output layer's dimension (%d)", o.labels, len(names), n)
	}
	return names, nil
}

// largest returns the indices of the n largest values in descending order of value. Equal values keep the order of their indices.
func largest(values []float32, n int) []int {
	places := make([]int, len(values))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return places[:min(n, len(places))]
}
