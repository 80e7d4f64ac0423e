package infer

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"strconv"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/predict"
	"github.com/swcaffe/swcaffe/solver/events"
)

// Classify is the command classify.
var Classify = cli.Command{
	Name:     "classify",
	Synopsis: "name what images show",
	Args:     "DEPLOY WEIGHTS MEAN LABELS IMAGE... [-top 5] [-csv FILE] | -model DEPLOY -weights FILES [-mean MEAN] [-labels LABELS] IMAGE...",
	Example:  "swcaffe classify deploy.prototxt net.caffemodel train_val.prototxt labels.txt photos/",
	Words:    []string{"model", "weights", "mean", "labels", "image..."},
	Quiet:    true,
	Help: `Turns images into the net's input, runs the net and prints the labels with the largest outputs. IMAGE may be a folder: all image files
below it are classified. LABELS has a label a line, or is SSD's LabelMap, or "none".

MEAN says what happens to images:

  train_val.prototxt   what the training did in its tests: its data layer names size, crop, mean and scale
  mean.binaryproto     as Caffe's classification example: the image gets the size of the input, and the mean of each channel is subtracted
  none                 the same without a mean

With -model and -weights as flags, MEAN and LABELS may be left out, or be -mean and -labels. Without MEAN it is the transform_param of DEPLOY's Input
layer; without LABELS classes have numbers. As in Caffe's example, nothing else is printed: -logtostderr shows the log. An image among several that cannot be read is named and left out, and the exit code is 1.`,
	Do: cli.With(classifyFlags, classify),
}

func classifyFlags(fs *flag.FlagSet, o *classifyOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` for deployment (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.StringVar(fs, &o.labels, "labels", "", "the `FILE` of labels, or none", cli.OneOf(noLabels).OrFiles(cli.AnyFile))
	cli.AppendVar(fs, &o.images, "image", "an image `FILE`, or a folder of images; may be given several times", cli.Images)
	cli.OutputVar(fs, &o.json, "json", "write the labels to `FILE` as well (docs/json.md); -: to standard output, alone")
	cli.OutputVar(fs, &o.csv, "csv", "write the labels to `FILE` as well: a line for each image and label; -: to standard output, alone")
	fs.IntVar(&o.top, "top", 5, "how many labels to print")
	o.register(fs)
	o.device.Register(fs)
}

type classifyOptions struct {
	model, weights, labels, json, csv string
	images                            []string
	top                               int
	preprocessing
	device cli.DeviceFlags
}

func classify(e *cli.Env, o *classifyOptions) error {
	if o.model == "" || o.weights == "" || len(o.images) == 0 {
		return cli.Usagef("need a net, weights and images: swcaffe classify DEPLOY WEIGHTS MEAN LABELS IMAGE..., or -model DEPLOY -weights FILES IMAGE...")
	}
	if o.top < 1 {
		return cli.Usagef("-top %d: at least one label is needed", o.top)
	}
	if err := o.check(); err != nil {
		return err
	}
	labels := o.labels
	if labels == noLabels {
		labels = ""
	}
	m, err := o.load(e, &o.device, predict.Options{Net: o.model, Weights: o.weights, Labels: labels})
	if err != nil {
		return err
	}
	if err := m.Classifies(); err != nil {
		return err
	}
	return o.run(e, m)
}

// noLabels is the -labels of classes without names.
const noLabels = "none"

// run classifies the images, and prints and writes the most probable labels.
func (o *classifyOptions) run(e *cli.Env, m *predict.Model) error {
	s, err := m.NewSession(0)
	if err != nil {
		return err
	}
	defer s.Close()
	files, err := e.ImageFiles("image", o.images)
	if err != nil {
		return err
	}
	reports := []classifyReport{}
	items := make([]*predict.Item, m.Batch())
	run := imageRun{
		files: files, batch: len(items),
		load: func(k int, file string) (repaired string, err error) {
			if items[k], err = m.Read(file); err != nil {
				return "", err
			}
			return items[k].Repaired, nil
		},
		run: func(part []string) error {
			results, err := s.Classify(context.Background(), o.top, items[:len(part)]...)
			if err != nil {
				return err
			}
			for k, classes := range results {
				r := classifyReport{Image: part[k], Predictions: []prediction{}}
				for _, c := range classes {
					r.Predictions = append(r.Predictions, prediction{c.Class, c.Label, events.Number(c.Score)})
				}
				r.print(e)
				reports = append(reports, r)
			}
			return nil
		},
	}
	unread, err := run.do(e)
	if err != nil {
		return err
	}
	if err := o.write(e, reports, len(files)); err != nil {
		return err
	}
	return run.unreadError(unread)
}

// classifyReport is an image in the file of -json.
type classifyReport struct {
	Image       string       `json:"image"`
	Predictions []prediction `json:"predictions"`
}

type prediction struct {
	Class int           `json:"class"`
	Label string        `json:"label"`
	Score events.Number `json:"score"`
}

func (r *classifyReport) print(e *cli.Env) {
	fmt.Fprintf(e.Tables, "---------- Prediction for %s ----------\n", r.Image)
	for _, p := range r.Predictions {
		fmt.Fprintf(e.Tables, "%.4f - %q\n", p.Score, p.Label)
	}
}

// write writes the files of -json and -csv. The JSON of one image is an object, that of several a list.
func (o *classifyOptions) write(e *cli.Env, reports []classifyReport, images int) error {
	var content any = reports
	if images == 1 {
		content = reports[0]
	}
	if err := e.WriteJSON(o.json, content); err != nil || o.csv == "" {
		return err
	}
	return e.CreateFile(o.csv, func(to io.Writer) error {
		w := csv.NewWriter(to)
		w.Write([]string{"image", "rank", "class", "label", "score"})
		for _, r := range reports {
			for i, p := range r.Predictions {
				w.Write([]string{r.Image, strconv.Itoa(i + 1), strconv.Itoa(p.Class), p.Label, strconv.FormatFloat(float64(p.Score), 'g', -1, 32)})
			}
		}
		w.Flush()
		return w.Error()
	})
}
