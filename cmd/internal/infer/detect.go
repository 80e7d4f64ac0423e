package infer

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/imageio"
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
	Args:     "-model DEPLOY -weights FILES [-mean TRAIN_VAL] [-threshold 0.5] [-label_map FILE] [-out DIR] IMAGE...",
	Example:  "swcaffe detect -model deploy.prototxt -weights ssd.caffemodel -label_map labelmap.prototxt -out found street.jpg",
	Words:    []string{"image..."},
	Quiet:    true,
	Help: `Turns images into the net's input, runs the net, and prints the detections of its DetectionOutput layer, or of YOLO's:
image, class, score, xmin, ymin, xmax, ymax, in pixels of the image. IMAGE may be a folder: objects are found in all image files below it.
Means, scale and resizing are those of the Input layer's transform_param, or with -mean train_val.prototxt those of the data layer of the training,
unless flags give others. -out DIR also writes, for every image, the picture with its boxes (-pictures png, svg or both) and a VOC annotation (.xml).
-json, -csv and -coco write one file for all images. Nothing else is printed: -logtostderr shows the log. An image among several that cannot be
read is named and left out, and the exit code is 1.`,
	Do: cli.With(detectFlags, detect),
}

func detectFlags(fs *flag.FlagSet, o *detectOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` for deployment (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.AppendVar(fs, &o.images, "image", "an image `FILE`, or a folder of images; may be given several times", cli.AnyFile)
	fs.Float64Var(&o.threshold, "threshold", 0.5, "the least score of a detection")
	cli.StringVar(fs, &o.labelMap, "label_map", "", "the `FILE` with the names of classes: SSD's LabelMap", cli.Prototxt)
	o.register(fs)
	cli.StringVar(fs, &o.out, "out", "", "the `DIRECTORY` for pictures and VOC annotations", cli.Folder)
	cli.StringVar(fs, &o.pictures, "pictures", "png", "the formats of pictures in -out: png, svg or png,svg", cli.OneOf("png", "svg", "png,svg"))
	cli.OutputVar(fs, &o.json, "json", "write the detections to `FILE` as JSON")
	cli.OutputVar(fs, &o.csv, "csv", "write the detections to `FILE` as CSV")
	cli.OutputVar(fs, &o.coco, "coco", "write the detections to `FILE` as COCO results")
	o.device.Register(fs)
}

type detectOptions struct {
	model, weights, labelMap       string
	images                         []string
	threshold                      float64
	out, pictures, json, csv, coco string
	preprocessing
	device cli.DeviceFlags

	names map[int]string
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
	var err error
	if o.images, err = cli.ImageFiles(o.images); err != nil {
		return err
	}
	if err := errors.Join(o.preprocessing.check(), o.checkNames()); err != nil {
		return err
	}
	t := trained{device: &o.device, model: o.model, weights: o.weights, seed: o.device.SeedOrTime(), prepares: true}
	return t.use(e, func(n *swnet.Net) error { return o.run(e, n) })
}

// checkNames reads the label map, and refuses images of which one would overwrite another's files.
func (o *detectOptions) checkNames() error {
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
	prepare, err := o.of(e, o.model, input)
	if err != nil {
		return err
	}
	if prepare.Crops() {
		return errors.New("the preprocessing crops images or adds borders, so that boxes would not be those of the whole image: detect needs a transform_param without crop_size, whose resize_mode is WARP")
	}
	item := input.CountFrom(1)
	part := make([]found, input.Shape()[0])
	var all []found
	run := imageRun{
		files: o.images, batch: len(part),
		load: func(k int, file string) (repaired string, err error) {
			part[k] = found{file: file}
			if part[k].image, err = imageio.Read(file, prepare.Mode()); err != nil {
				return "", err
			}
			if err := prepare.Put(input.Data()[k*item:][:item], part[k].image); err != nil {
				return "", fmt.Errorf("%s: %w", file, err)
			}
			return part[k].image.Repaired, nil
		},
		run: func(files []string) error {
			if _, err := n.Forward(); err != nil {
				return err
			}
			batch := part[:len(files)]
			o.collect(batch, output.Data())
			for i := range batch {
				if err := o.writeImage(&batch[i]); err != nil {
					return err
				}
				batch[i].image = &imageio.Image{Height: batch[i].image.Height, Width: batch[i].image.Width}
			}
			all = append(all, batch...)
			return nil
		},
	}
	unread, err := run.do(e)
	if err != nil {
		return err
	}
	if err := o.write(e, all); err != nil {
		return err
	}
	return run.unreadError(unread)
}

// detectors are the layer types whose top has rows of image, class, score and box.
var detectors = []string{"DetectionOutput", "YoloDetectionOutput", "Yolov3DetectionOutput"}

// ends returns the net's input and its detections.
func (o *detectOptions) ends(n *swnet.Net) (input, output *blob.Blob, err error) {
	if input, err = imageInput(n, o.model); err != nil {
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
