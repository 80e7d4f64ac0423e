package infer

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/quantise"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"google.golang.org/protobuf/proto"
)

// Quantize is the command quantize.
var Quantize = cli.Command{
	Name:     "quantize",
	Synopsis: "make a net for 8-bit integers",
	Args:     "-model FILE -weights FILES -o DIR [-data SOURCE] [-iterations N] [-method max|percentile|entropy|mse]",
	Example:  "swcaffe quantize -model models/lenet/train_val.prototxt -weights lenet_iter_2000.caffemodel -iterations 20 -o int8",
	Help: `Runs the net's TEST phase on some batches, measures the inputs of all convolutions and inner products, and chooses a scale and a zero point
for each. Writes DIR/NAME.prototxt, the net with these in quantization_param and with precision: INT8, and DIR/NAME.caffemodel, its weights in
fp32, which the net rounds as it runs. docs/quantization.md says how.

Batch normalisations with stored statistics are multiplied into the weights before them (-fold=false keeps them), so that the net is for
inference alone. Biases are corrected by the mean error of their channel (-correct=false leaves them).

Prints for each layer the ratio of signal and noise of its outputs, the share of its inputs beyond the range of bytes and its share of
multiply-adds, also as a page, DIR/index.html. Then it runs both nets for as many batches and prints the outputs that they print in test.`,
	Do: cli.With(quantizeFlags, quantize),
}

func quantizeFlags(fs *flag.FlagSet, o *quantizeOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.StringVar(fs, &o.data, "data", "", "what to measure on: a `SOURCE`, an LMDB or LevelDB folder or a list of images with labels (default: what the net's data layers read)", cli.AnyFile)
	cli.StringVar(fs, &o.folder, "o", "", "the `FOLDER` to write to", cli.Folder)
	fs.IntVar(&o.iterations, "iterations", 20, "the number of batches to measure, and to compare the nets on")
	cli.StringVar(fs, &o.method, "method", "mse", "how ranges are chosen: max takes all values, percentile most of them, entropy loses least information, mse has the least squared error", cli.OneOf(quantise.Methods...))
	fs.Float64Var(&o.percentile, "percentile", 99.99, "with -method percentile: the share of values in the range, in percent")
	fs.StringVar(&o.keep, "keep", "", "layers that stay in fp32: those whose names match this regular expression")
	fs.BoolVar(&o.fold, "fold", true, "multiply batch normalisations into the weights before them")
	fs.BoolVar(&o.correct, "correct", true, "correct biases by the mean error of their channel")
	fs.BoolVar(&o.int8, "int8_weights", false, "store weights in 8 bits: a quarter of the size; only swcaffe reads them, other programs find no values")
	o.device.Register(fs)
	o.state.Register(fs)
}

type quantizeOptions struct {
	model, weights, data, folder, method, keep string
	iterations                                 int
	percentile                                 float64
	fold, correct, int8                        bool
	device                                     cli.DeviceFlags
	state                                      cli.StateFlags
}

// check validates the flags.
func (o *quantizeOptions) check() error {
	switch {
	case o.model == "":
		return cli.Usagef("need a model definition to quantize: -model FILE")
	case o.weights == "":
		return cli.Usagef("need trained weights to quantize: -weights FILE")
	case o.folder == "":
		return cli.Usagef("need a folder to write to: -o DIR")
	case o.iterations < 1:
		return cli.Usagef("-iterations %d: at least one batch is needed", o.iterations)
	case !(o.percentile > 50 && o.percentile <= 100):
		return cli.Usagef("-percentile %g: it must be above 50, and 100 at most", o.percentile)
	case !slices.Contains(quantise.Methods, o.method):
		return cli.Usagef("-method %s: there are %s", o.method, strings.Join(quantise.Methods, ", "))
	}
	return nil
}

func quantize(e *cli.Env, o *quantizeOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	keep, err := o.kept()
	if err != nil {
		return err
	}
	spec, err := o.device.Spec(e)
	if err != nil {
		return err
	}
	if spec.Precision() != "" {
		return cli.Usagef("-precision %s: quantize runs nets in fp32 and in int8", spec.Precision())
	}
	if err := spec.Computes(cpe.INT8); err != nil {
		return cli.Usagef("-machine %s: %w", o.device.MachineName, err)
	}
	machine, err := cpe.New(spec, cpe.DefaultMode(spec))
	if err != nil {
		return err
	}
	defer machine.Close()
	file, err := cli.ReadNet(e, o.model, &o.state)
	if err != nil {
		return err
	}
	if keep != nil && !slices.ContainsFunc(file.Param.GetLayer(), func(l *caffepb.LayerParameter) bool { return keep.MatchString(l.GetName()) }) {
		return cli.Usagef("-keep %s: no layer of %s has such a name", o.keep, o.model)
	}
	if feed := o.feed(); feed != nil { // before the weights are read
		if err := feed(proto.CloneOf(file.Param)); err != nil {
			return err
		}
	}
	for _, ending := range []string{".prototxt", ".caffemodel"} {
		if err := e.Spares(o.path(ending)); err != nil {
			return cli.FlagError("o", err)
		}
	}
	if err := os.MkdirAll(o.folder, 0o777); err != nil {
		return cli.FlagError("o", err)
	}
	log := e.Log // of the first net; the others have its layers
	build := func(p *caffepb.NetParameter, economise bool) (*swnet.Net, error) {
		defer func() { log = nil }()
		device := &layers.Device{Engine: o.device.Engine, Machine: machine, Random: layers.NewRandom(o.device.SeedOrTime()), Log: log}
		pos := func(int) string { return o.model }
		return swnet.New(p, swnet.Options{State: o.state.StateOver(file, caffepb.Phase_TEST), Pos: pos, Device: device, ForwardOnly: true, Economise: economise})
	}
	bar := cli.NewProgress(e.Stderr, 2*o.iterations, "batches")
	load := func(n *swnet.Net) error {
		if inputs := unfed(n); inputs != "" && o.data == "" {
			return fmt.Errorf("%s type Input, so that all inputs would be measured as 0: -data SOURCE gives images to the only one; or give a net with data layers, as a train_val.prototxt", inputs)
		}
		_, err := solver.LoadTrained(n, o.weights, e.Log)
		return err
	}
	r, err := quantise.Run(file.Param, load, quantise.Options{
		Iterations: o.iterations, Method: o.method, Percentile: o.percentile, Keep: keep, Fold: o.fold, Correct: o.correct,
		Build:    func(p *caffepb.NetParameter) (*swnet.Net, error) { return build(p, false) },
		Feed:     o.feed(),
		Progress: func(int, int) { bar.Add(1) },
	})
	bar.Finish()
	if err != nil {
		return err
	}
	j := &quantizeJob{env: e, options: o, result: r}
	if err := j.write(); err != nil {
		return err
	}
	return j.report(build, file.Param, load)
}

// kept returns the expression of -keep, nil if there is none.
func (o *quantizeOptions) kept() (*regexp.Regexp, error) {
	if o.keep == "" {
		return nil, nil
	}
	re, err := regexp.Compile(o.keep)
	if err != nil {
		return nil, cli.Usagef("-keep %s: %w", o.keep, err)
	}
	return re, nil
}

// feed returns what gives nets for calibration the data of -data, nil without the flag.
func (o *quantizeOptions) feed() func(p *caffepb.NetParameter) error {
	if o.data == "" {
		return nil
	}
	return func(p *caffepb.NetParameter) error {
		if err := quantise.Feed(p, o.data); err != nil {
			return cli.FlagError("data", err)
		}
		return nil
	}
}

// quantizeJob is a quantised net and what is told of it.
type quantizeJob struct {
	env     *cli.Env
	options *quantizeOptions
	result  *quantise.Result
}

// path returns the path of a file in the folder, with the name of the model and an ending.
func (o *quantizeOptions) path(ending string) string {
	return filepath.Join(o.folder, strings.TrimSuffix(filepath.Base(o.model), filepath.Ext(o.model))+ending)
}

// write writes the net and its weights. The weights are first, which need nearly all of the space: a disk that is full leaves an earlier pair as it is.
func (j *quantizeJob) write() error {
	if j.options.int8 {
		if err := quantise.StoreInt8(j.result); err != nil {
			return err
		}
	}
	if err := j.env.WriteBinary(j.options.path(".caffemodel"), j.result.Weights); err != nil {
		return err
	}
	text := fmt.Sprintf("# Written by swcaffe quantize -model %s -weights %s -iterations %d -method %s; its weights are in %s.\n",
		j.options.model, j.options.weights, j.options.iterations, j.options.method, filepath.Base(j.options.path(".caffemodel")))
	return j.env.WriteFile(j.options.path(".prototxt"), append([]byte(text), swproto.MarshalText(j.result.Net)...))
}
