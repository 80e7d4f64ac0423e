package infer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/predict"
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
-json, -csv and -coco write one file for all images. Files of -out have an image's name without folder and ending. Of files
that exist in -out, only those of an earlier run are replaced: NAME.xml says that detect wrote it and NAME's pictures. The image_id of -coco is the
number that this name is, as pycocotools wants it: 139 for 000000000139.jpg, 42 for COCO_val2014_000000000042.jpg. Any other name is the image_id as it is,
a text, which a line on standard error says: loadRes takes it once it is replaced by the image's id in the annotation file (docs/images.md). The
category_id is the class's name in the label map if that is a number, as in SSD's labelmap_coco.prototxt, else the class. Two images of the same name or
image_id are refused with these flags. Nothing else is printed: -logtostderr shows the log. An image among several that cannot be
read is named and left out, and the exit code is 1.`,
	Do: cli.With(detectFlags, detect),
}

func detectFlags(fs *flag.FlagSet, o *detectOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` for deployment (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.AppendVar(fs, &o.images, "image", "an image `FILE`, or a folder of images; may be given several times", cli.Images)
	fs.Float64Var(&o.threshold, "threshold", 0.5, "the least score of a detection, from 0 to 1")
	cli.StringVar(fs, &o.labelMap, "label_map", "", "the `FILE` with the names of classes: SSD's LabelMap, or a line for each class from 0 on", cli.Prototxt)
	o.register(fs)
	cli.StringVar(fs, &o.out, "out", "", "the `DIRECTORY` for pictures and VOC annotations; it may hold those of an earlier run, but no others of the images' names", cli.Folder)
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
}

// found is an image with its detections.
type found struct {
	file       string
	image      *imageio.Image
	detections []predict.Object
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
	if o.threshold < 0 || o.threshold > 1 {
		return cli.Usagef("-threshold %v: it must be from 0 to 1", o.threshold)
	}
	var err error
	if o.images, err = e.ImageFiles("image", o.images); err != nil {
		return err
	}
	if err := errors.Join(o.check(), o.checkNames(), o.checkOut(e)); err != nil {
		return err
	}
	m, err := o.load(e, &o.device, predict.Options{Net: o.model, Weights: o.weights, Labels: o.labelMap})
	if err != nil {
		return err
	}
	if err := m.Detects(); err != nil {
		return err
	}
	return o.run(e, m)
}

// checkNames refuses images of which one would overwrite another's files, or whose results in COCO's file could not be told apart.
func (o *detectOptions) checkNames() error {
	seen := map[string]string{}
	for _, file := range o.images {
		name, id := stem(file), "image_id "+string(imageID(file))
		if other, twice := seen[name]; twice && o.out != "" {
			return cli.Usagef("-out %s: %s and %s would have files of the same name", o.out, other, file)
		}
		if other, twice := seen["/"+id]; twice && o.coco != "" {
			return cli.Usagef("-coco %s: %s and %s would have the same %s", o.coco, other, file, id)
		}
		seen[name], seen["/"+id] = file, file
	}
	return nil
}

// stem is a file's name without folder and extension.
func stem(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// run finds the objects of all images, batch by batch, and writes them.
func (o *detectOptions) run(e *cli.Env, m *predict.Model) error {
	s, err := m.NewSession(0)
	if err != nil {
		return err
	}
	defer s.Close()
	part, items := make([]found, m.Batch()), make([]*predict.Item, m.Batch())
	var all []found
	run := imageRun{
		files: o.images, batch: len(part),
		load: func(k int, file string) (repaired string, err error) {
			part[k] = found{file: file}
			if part[k].image, err = imageio.Read(file, m.Mode()); err != nil {
				return "", err
			}
			if items[k], err = m.Pixels(part[k].image); err != nil {
				return "", fmt.Errorf("%s: %w", file, err)
			}
			return items[k].Repaired, nil
		},
		run: func(files []string) error {
			objects, err := s.Detect(context.Background(), o.threshold, items[:len(files)]...)
			if err != nil {
				return err
			}
			batch := part[:len(files)]
			for i := range batch {
				batch[i].detections = objects[i]
				if err := o.writeImage(e, &batch[i]); err != nil {
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
