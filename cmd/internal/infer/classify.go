package infer

import (
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/internal/testreport"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver/events"
)

// Classify is the command classify.
var Classify = cli.Command{
	Name:     "classify",
	Synopsis: "name what images show",
	Args:     "DEPLOY WEIGHTS MEAN LABELS IMAGE... [-top 5] [-csv FILE]",
	Example:  "swcaffe classify deploy.prototxt net.caffemodel train_val.prototxt labels.txt photos/",
	Words:    []string{"model", "weights", "mean", "labels", "image..."},
	Quiet:    true,
	Help: `Turns images into the net's input, runs the net and prints the labels with the largest outputs. IMAGE may be a folder: all image files
below it are classified. LABELS has a label a line, or is SSD's LabelMap, or "none".

MEAN says what happens to images:

  train_val.prototxt   what the training did in its tests: its data layer names size, crop, mean and scale
  mean.binaryproto     as Caffe's classification example: the image gets the size of the input, and the mean of each channel is subtracted
  none                 the same without a mean

Without MEAN (-model, -weights and -labels as flags) it is the transform_param of DEPLOY's Input layer. As in Caffe's example, nothing else is
printed: -logtostderr shows the log. An image among several that cannot be read is named and left out, and the exit code is 1.`,
	Do: cli.With(classifyFlags, classify),
}

func classifyFlags(fs *flag.FlagSet, o *classifyOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` for deployment (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.StringVar(fs, &o.labels, "labels", "", "the `FILE` of labels, or none", cli.OneOf("none").OrFiles(cli.AnyFile))
	cli.AppendVar(fs, &o.images, "image", "an image `FILE`, or a folder of images; may be given several times", cli.AnyFile)
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
	if o.model == "" || o.weights == "" || o.labels == "" || len(o.images) == 0 {
		return cli.Usagef("need five words: swcaffe classify DEPLOY WEIGHTS MEAN LABELS IMAGE...")
	}
	if o.top < 1 {
		return cli.Usagef("-top %d: at least one label is needed", o.top)
	}
	if err := o.check(); err != nil {
		return err
	}
	t := trained{device: &o.device, model: o.model, weights: o.weights, seed: o.device.SeedOrTime(), prepares: true}
	return t.use(e, func(n *swnet.Net) error { return o.run(e, n) })
}

// run classifies the images, and prints and writes the most probable labels.
func (o *classifyOptions) run(e *cli.Env, n *swnet.Net) error {
	input, err := imageInput(n, o.model)
	if err != nil {
		return err
	}
	outputs := n.Outputs()
	if len(outputs) != 1 {
		return fmt.Errorf("%s has %d outputs, a classifier has one", o.model, len(outputs))
	}
	labels, err := o.names(outputs[0].Blob.Count() / input.Shape()[0])
	if err != nil {
		return err
	}
	prepare, err := o.of(e, o.model, input)
	if err != nil {
		return err
	}
	files, err := cli.ImageFiles(o.images)
	if err != nil {
		return err
	}
	item := input.CountFrom(1)
	var reports []classifyReport
	run := imageRun{
		files: files, batch: input.Shape()[0],
		load: func(k int, file string) (string, error) { return prepare.Read(input.Data()[k*item:][:item], file) },
		run: func(part []string) error {
			if _, err := n.Forward(); err != nil {
				return err
			}
			for k, file := range part {
				r := o.report(file, outputs[0].Blob, k, labels)
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

// report returns the most probable labels of item k of a batch.
func (o *classifyOptions) report(file string, output *blob.Blob, k int, labels []string) classifyReport {
	r := classifyReport{Image: file, Predictions: []prediction{}}
	scores := output.Data()[k*len(labels):][:len(labels)]
	for _, i := range largest(scores, o.top) {
		r.Predictions = append(r.Predictions, prediction{i, labels[i], events.Number(scores[i])})
	}
	return r
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
