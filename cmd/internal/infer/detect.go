package infer

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/internal/box"
	"github.com/swcaffe/swcaffe/internal/cli"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Detect is the command detect.
var Detect = cli.Command{
	Name:     "detect",
	Synopsis: "find the objects in images",
	Args:     "-model DEPLOY -weights FILES [-threshold 0.5] [-label_map FILE] [-out DIR] IMAGE...",
	Example:  "swcaffe detect -model deploy.prototxt -weights ssd.caffemodel -label_map labelmap.prototxt -out found street.jpg",
	Words:    []string{"image..."},
	Quiet:    true,
	Help: `Scales every image to the size of the net's input, subtracts the means, runs the net, and prints the detections of its DetectionOutput layer, or of YOLO's:
image, class, score, xmin, ymin, xmax, ymax, in pixels of the image. The means and the scale are those of the Input layer's transform_param,
unless flags give them.
-out DIR also writes, for every image, the picture with its boxes (-pictures png, svg or both) and a VOC annotation (.xml). -json and -coco
write one file for all images. Nothing else is printed: -logtostderr shows the log.`,
	Do: cli.With(detectFlags, detect),
}

func detectFlags(fs *flag.FlagSet, o *detectOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` for deployment (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.AppendVar(fs, &o.images, "image", "an image `FILE`; may be given several times", cli.AnyFile)
	fs.Float64Var(&o.threshold, "threshold", 0.5, "the least score of a detection")
	cli.StringVar(fs, &o.labelMap, "label_map", "", "the `FILE` with the names of classes: SSD's LabelMap", cli.Prototxt)
	fs.StringVar(&o.means, "mean_value", "", "a `VALUE` to subtract from pixels, or one for each channel, separated by commas")
	fs.Float64Var(&o.scale, "scale", 0, "the factor for pixels, like transform_param's scale; 0 takes that of the Input layer")
	cli.StringVar(fs, &o.out, "out", "", "the `DIRECTORY` for pictures and VOC annotations", cli.Folder)
	cli.StringVar(fs, &o.pictures, "pictures", "png", "the formats of pictures in -out: png, svg or png,svg", cli.OneOf("png", "svg", "png,svg"))
	cli.OutputVar(fs, &o.json, "json", "write the detections to `FILE` as JSON")
	cli.OutputVar(fs, &o.coco, "coco", "write the detections to `FILE` as COCO results")
	o.device.Register(fs)
}

type detectOptions struct {
	model, weights, labelMap, means string
	images                          []string
	threshold, scale                float64
	out, pictures, json, coco       string
	device                          cli.DeviceFlags

	names      map[int]string
	meanValues []float32
}

// found is an image with its detections.
type found struct {
	file       string
	image      *imageio.Image
	detections []detected
}

// detected is an object in pixels of its image.
type detected struct {
	label int
	name  string
	score float32
	box.Box
}

func detect(e *cli.Env, o *detectOptions) error {
	if o.model == "" || o.weights == "" || len(o.images) == 0 {
		return cli.Usagef("need a net, weights and images: swcaffe detect -model DEPLOY -weights FILES IMAGE...")
	}
	for _, format := range strings.Split(o.pictures, ",") {
		if format != "png" && format != "svg" {
			return cli.Usagef("-pictures %s: use png, svg or png,svg", o.pictures)
		}
	}
	if err := o.check(); err != nil {
		return err
	}
	t := trained{device: &o.device, model: o.model, weights: o.weights, seed: o.device.SeedOrTime()}
	return t.use(e, func(n *swnet.Net) error { return o.run(e, n) })
}

// check reads the label map and the means, and refuses images of which one would overwrite another's files.
func (o *detectOptions) check() error {
	if o.labelMap != "" {
		var m caffepb.LabelMap
		if _, err := swproto.ReadText(o.labelMap, &m); err != nil {
			return err
		}
		o.names = map[int]string{}
		for _, item := range m.Item {
			if o.names[int(item.GetLabel())] = item.GetDisplayName(); item.GetDisplayName() == "" {
				o.names[int(item.GetLabel())] = item.GetName()
			}
		}
	}
	if o.means != "" {
		for _, word := range strings.Split(o.means, ",") {
			v, err := strconv.ParseFloat(word, 32)
			if err != nil {
				return cli.Usagef("-mean_value %s: %q is not a number", o.means, word)
			}
			o.meanValues = append(o.meanValues, float32(v))
		}
	}
	seen := map[string]string{}
	for _, file := range o.images {
		if other, twice := seen[stem(file)]; o.out != "" && twice {
			return cli.Usagef("-out %s: %s and %s would have files of the same name", o.out, other, file)
		}
		seen[stem(file)] = file
	}
	return nil
}

// stem is a file's name without folder and extension.
func stem(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// run finds the objects of all images, batch by batch, and writes them.
func (o *detectOptions) run(e *cli.Env, n *swnet.Net) error {
	input, output, err := o.ends(n)
	if err != nil {
		return err
	}
	if err := o.readTransform(e, input.Shape()[1]); err != nil {
		return err
	}
	var all []found
	bar := cli.NewProgress(e.Stderr, len(o.images), "images")
	batch := input.Shape()[0]
	for first := 0; first < len(o.images); first += batch {
		part := make([]found, min(batch, len(o.images)-first))
		for k := range part {
			part[k].file = o.images[first+k]
			if err := o.load(&part[k], input, k); err != nil {
				return err
			}
		}
		if _, err := n.Forward(); err != nil {
			return err
		}
		o.collect(part, output.Data())
		for i := range part {
			if err := o.writeImage(&part[i]); err != nil {
				return err
			}
			part[i].image = &imageio.Image{Height: part[i].image.Height, Width: part[i].image.Width}
		}
		all = append(all, part...)
		bar.Add(len(part))
	}
	bar.Finish()
	return o.write(e, all)
}

// detectors are the layer types whose top has rows of image, class, score and box.
var detectors = []string{"DetectionOutput", "YoloDetectionOutput", "Yolov3DetectionOutput"}

// ends returns the net's input and its detections.
func (o *detectOptions) ends(n *swnet.Net) (input, output *blob.Blob, err error) {
	c := classifyOptions{model: o.model}
	if input, err = c.input(n); err != nil {
		return nil, nil, err
	}
	for i := range n.NumLayers() {
		if slices.Contains(detectors, n.LayerType(i)) {
			output = n.Tops(i)[0]
		}
	}
	if output == nil {
		return nil, nil, fmt.Errorf("%s has no DetectionOutput layer; is it a detection net for deployment?", o.model)
	}
	return input, output, nil
}

// readTransform takes means and scale from the Input layer where flags do not give them.
func (o *detectOptions) readTransform(e *cli.Env, channels int) error {
	file, err := cli.ReadNet(e, o.model)
	if err != nil {
		return err
	}
	for _, l := range file.Param.Layer {
		if l.GetType() != "Input" || l.TransformParam == nil {
			continue
		}
		if o.means == "" {
			o.meanValues = l.TransformParam.GetMeanValue()
		}
		if o.scale == 0 {
			o.scale = float64(l.TransformParam.GetScale())
		}
		break
	}
	if o.scale == 0 {
		o.scale = 1
	}
	switch len(o.meanValues) {
	case 0:
		o.meanValues = []float32{0}
		fallthrough
	case 1:
		for len(o.meanValues) < channels {
			o.meanValues = append(o.meanValues, o.meanValues[0])
		}
	case channels:
	default:
		return fmt.Errorf("there are %d mean values, but the net's input has %d channels", len(o.meanValues), channels)
	}
	return nil
}

// load reads an image into item k of the input.
func (o *detectOptions) load(f *found, input *blob.Blob, k int) error {
	s, mode := input.Shape(), imageio.Color
	if s[1] == 1 {
		mode = imageio.Gray
	}
	file, err := regular.ReadFile(f.file)
	if err != nil {
		return err
	}
	if f.image, err = imageio.Decode(file, mode); err != nil {
		return fmt.Errorf("%s: %w", f.file, err)
	}
	im, err := f.image.Resize(s[2], s[3])
	if err != nil {
		return fmt.Errorf("%s: %w", f.file, err)
	}
	plane, values := s[2]*s[3], input.Data()[k*input.CountFrom(1):]
	for i, v := range im.Planes() {
		values[i] = (float32(v) - o.meanValues[i/plane]) * float32(o.scale)
	}
	return nil
}

// collect hands the rows of a batch to their images. Rows of images beyond the last one are of a batch that is not full.
func (o *detectOptions) collect(part []found, rows []float32) {
	for ; len(rows) >= 7; rows = rows[7:] {
		image, label := int(rows[0]), int(rows[1])
		if label < 0 || image >= len(part) || !(float64(rows[2]) >= o.threshold) {
			continue
		}
		f := &part[image]
		d := detected{label: label, name: o.names[label], score: rows[2], Box: box.Of(rows[3:]).Clip(1, 1).Scale(float32(f.image.Width), float32(f.image.Height))}
		if d.name == "" {
			d.name = fmt.Sprintf("class%d", label)
		}
		f.detections = append(f.detections, d)
	}
}
