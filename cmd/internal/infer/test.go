package infer

import (
	"cmp"
	"flag"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/solver/evaluate"
	"github.com/swcaffe/swcaffe/topology"
)

// Test is the command test.
var Test = cli.Command{
	Name:     "test",
	Synopsis: "score a model",
	Args:     "-model FILE -weights FILES [-iterations N] [-report DIR] [-json FILE]",
	Example:  "swcaffe test -model models/lenet/train_val.prototxt -weights lenet_iter_2000.caffemodel -iterations 40",
	Help: "Runs the net's TEST phase for a number of batches and prints each batch's outputs, their means and the loss.\n" +
		"Under mpirun the processes compute the batches in turn, and the first one prints them all.\n\n" +
		"-report DIR writes DIR/index.html, a page without other files: the confusion matrix, accuracy by class, and the worst-misclassified\n" +
		"images with their scores; for segmentations also intersection over union and maps of classes; for detections curves of precision\n" +
		"over recall, and the worst images with their objects and boxes. Images have the names of their files. DIR/mistakes.csv lists all\n" +
		"misclassified images.",
	Joins: true,
	Do:    cli.With(testFlags, test),
}

func testFlags(fs *flag.FlagSet, o *testOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	fs.IntVar(&o.iterations, "iterations", 50, "the number of batches")
	cli.ExpectVar(fs, &o.expected)
	cli.StringVar(fs, &o.evalType, "eval_type", "", "what the outputs are: classification prints their means, detection the mean average precision of DetectionEvaluate's outputs (default: detection if all outputs are such, else classification)", cli.OneOf("classification", "detection"))
	cli.StringVar(fs, &o.version, "ap_version", evaluate.DefaultVersion, "the average precision: 11point, MaxIntegral or Integral", cli.OneOf("11point", "MaxIntegral", "Integral"))
	fs.BoolVar(&o.perClass, "show_per_class_result", false, "with -eval_type detection: print the average precision of every class")
	cli.StringVar(fs, &o.report.folder, "report", "", "write a page of the results, index.html, to a `FOLDER`", cli.Folder)
	cli.StringVar(fs, &o.report.labels, "labels", "", "with -report: a `FILE` with the names of the classes, one a line, or SSD's LabelMap (default: one beside the data, as dataset and init write it)", cli.AnyFile)
	fs.IntVar(&o.report.images, "report_images", 40, "with -report: the number of misclassified images to show")
	cli.OutputVar(fs, &o.json, "json", "write the means to `FILE` as well (docs/json.md); -: to standard output, alone")
	o.device.Register(fs)
	o.state.Register(fs)
}

type testOptions struct {
	model, weights string
	iterations     int
	expected       int // -workers_expected
	evalType       string
	version, json  string
	perClass       bool
	report         testReport
	device         cli.DeviceFlags
	state          cli.StateFlags
}

func test(e *cli.Env, o *testOptions) error {
	if o.model == "" {
		return cli.Usagef("need a model definition to score: -model FILE")
	}
	if o.weights == "" {
		return cli.Usagef("need model weights to score: -weights FILE")
	}
	if o.iterations < 1 {
		return cli.Usagef("-iterations %d: at least one batch is needed", o.iterations)
	}
	method, err := evaluate.Parse(cmp.Or(o.evalType, "classification"), o.version, o.perClass)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	o.report.version, o.report.model, o.report.weights = o.version, o.model, o.weights
	if err := o.report.check(e); err != nil {
		return err
	}
	if o.json != "" && e.UnderMPI() {
		return cli.Usagef("-json %s: the file is written by one process; run it without mpirun", o.json)
	}
	t := trained{device: &o.device, state: o.state, model: o.model, weights: o.weights, seed: o.device.SeedOrTime()}
	if e.UnderMPI() {
		return cli.InJob(e, o.expected, func(job *topology.MPIJob) error { return score(e, t, method, o, job) })
	}
	if err := cli.CheckExpected(o.expected, 1); err != nil {
		return err
	}
	return score(e, t, method, o, topology.NewLocal(1).Transport(0))
}
