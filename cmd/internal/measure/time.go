// Package measure has the commands that measure and model speed.
//
//	time, explore            nets, on this computer or on a modelled machine and its variants
//	bandwidth, device_query  machines
//	allreduce, scale         all-reduces and training on clusters, modelled; allreduce also measures
//
// Measured times are medians over iterations; modelled times depend on nothing but the machine, the cluster and the net.
package measure

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/modeltime"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
)

// Time declares time.
var Time = cli.Command{
	Name:     "time",
	Synopsis: "measure a model's layers, or model them on another machine",
	Args:     "-model FILE [-weights FILES] [-phase TRAIN|TEST] [-forward_only] [-iterations N] [-dry_run | -passes | -explain LAYER | -cores LIST [-processor NAME|FILE]] [-json FILE] [-batch N] [-strategy NAME | -tune FILE] [-machine NAME|FILE [-core_groups N] [-roofline FILE] [-heatmap FILE -layer NAME] ...]",
	Example:  "swcaffe time -model models/lenet/train_val.prototxt -iterations 50",
	Help: `Runs forward and backward passes after a warm-up and prints the time of every layer in both directions: the mean as
Caffe does, and medians in the -json file; and the algorithm that computes each direction of every convolution. -strategy forces a
family of algorithms, or one by its name, where it can be used; -tune measures all families in the warm-up and keeps the fastest in a
file, which later runs, and train, read.

On a -machine other than this computer (sw26010, or a file that describes one) times are modelled: every layer and direction
with its algorithm, GFLOP/s, what bounds it, bytes moved and LDM used. -engine mpe models the management core alone. -roofline
draws what every pass reaches under the machine's roof, -heatmap how much LDM each CPE of the mesh uses in one pass and how much of
its transfers it makes.

Behind a modelled figure, in brackets, is the range in which the true one probably lies; docs/machines.md says how it is made.

-forward_only measures inference: the net is planned for forward passes alone, as test, classify and extract_features run it.

-passes runs nothing. It prints what each pass over the net's tasks did, in order: fused layers, gradients that share memory, layouts of
images. -without leaves out passes, fusions and algorithms by their names, to measure what each of them saves. On modelled machines it
also leaves out mechanisms of the model, and a table shows the worth of each mechanism with all others present.

-explain LAYER lists every algorithm for each direction of a layer and marks the chosen one: of convolutions, inner products, recurrent
layers and poolings. A row has the estimated cost, or the reason why the algorithm cannot be used or is left out. On this computer the
cost is work, relative to the least; on a modelled machine it is milliseconds. Products and poolings have no costs on this computer: the
first algorithm that can is chosen. With -tune all of them are run, for their times. With -forward_only it lists those of inference.
LAYER may be a regular expression for whole names, such as '.*'.

-cores LIST computes nothing. It plans the net for 8, 64 or other numbers of cores like this computer's, and prints how each kernel's
program divides its work: the cores that it asks for, the units that they share (N), or claim up to M at once (N/M), and the longest core's
part over the mean of all cores. With -processor it prints the modelled time instead, with its range: what bounds it, the part of the cores'
time that they wait for the longest part of a program, and the part of the time in which one core works alone. docs/cores.md has examples.

-dry_run runs nothing: it prints every layer's shapes, parameters and FLOPs an image, two for each multiply-add of convolutions,
inner products and recurrent layers, as publications count them.`,
	Do: cli.With(timeFlags, timeModel),
}

func timeFlags(fs *flag.FlagSet, o *timeOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights to measure with: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.StringVar(fs, &o.phase, "phase", "TRAIN", "TRAIN or TEST", cli.OneOf("TRAIN", "TEST"))
	fs.BoolVar(&o.forwardOnly, "forward_only", false, "measure forward passes alone, of a net that is planned for them")
	fs.IntVar(&o.iterations, "iterations", 50, "the number of iterations to measure")
	cli.OutputVar(fs, &o.json, "json", "write the figures to `FILE` as well; -: to standard output, alone")
	fs.BoolVar(&o.dryRun, "dry_run", false, "print shapes, parameters and FLOPs by layer and run nothing")
	fs.BoolVar(&o.passes, "passes", false, "print what each pass over the net's tasks did, and run nothing")
	fs.StringVar(&o.explain, "explain", "", "list every algorithm of `LAYER` with its cost, or the reason against it, and time nothing")
	fs.StringVar(&o.cores, "cores", "", "print how kernels divide the work among numbers of cores in `LIST`, such as 8,16,...,128, and run nothing")
	cli.StringVar(fs, &o.processor, "processor", "", "with -cores: model the time on cores of a processor: "+strings.Join(modeltime.Processors(), ", ")+", or a `FILE` that describes one", cli.OneOf(modeltime.Processors()...).OrFiles(cli.Prototxt))
	o.device.Register(fs)
	o.state.Register(fs)
	o.strategies.Register(fs, true)
	o.modelled.register(fs)
}

type timeOptions struct {
	model, weights, phase, json string
	explain                     string // a layer
	cores                       string // numbers
	processor                   string // of the cores
	iterations                  int
	dryRun, passes, forwardOnly bool
	device                      cli.DeviceFlags
	state                       cli.StateFlags
	strategies                  cli.StrategyFlags
	modelled                    modelFlags
}

// measured names the passes that an iteration runs, as in Caffe's lines.
func (o *timeOptions) measured() string {
	if o.forwardOnly {
		return "forward"
	}
	return "forward-backward"
}

// layerTimes are the measured times of one layer, one value an iteration.
type layerTimes struct{ forward, backward []time.Duration }

func timeModel(e *cli.Env, o *timeOptions) error {
	if o.model == "" {
		return cli.Usagef("need a model definition to time: -model FILE")
	}
	if o.iterations < 1 {
		return cli.Usagef("-iterations %d: at least one iteration is needed", o.iterations)
	}
	if o.modelled.batch < 0 {
		return cli.Usagef("-batch %d: the number of images cannot be negative", o.modelled.batch)
	}
	if o.explain != "" && (o.dryRun || o.passes || o.json != "") {
		return cli.Usagef("-explain prints tables and times nothing; leave -dry_run, -passes and -json out")
	}
	if o.cores != "" && (o.dryRun || o.passes || o.explain != "" || o.weights != "" || o.json != "" && o.processor == "") {
		return cli.Usagef("-cores prints a table and runs nothing; leave -dry_run, -passes, -explain, -weights and, without -processor, -json out")
	}
	if o.processor != "" && o.cores == "" {
		return cli.Usagef("-processor %s: -cores says on how many of its cores", o.processor)
	}
	phase, err := cli.ParsePhase(o.phase)
	if err != nil {
		return err
	}
	if o.weights != "" && o.dryRun {
		return cli.Usagef("-weights is for times that are measured; -dry_run runs nothing")
	}
	if o.dryRun {
		return timeDry(e, o, phase)
	}
	spec, err := o.device.Spec(e)
	if err != nil {
		return err
	}
	switch {
	case o.cores != "" && !spec.Native():
		return cli.Usagef("-cores is for cores like those of this computer; -machine %s is modelled: use -core_groups", o.device.MachineName)
	case o.cores != "":
		return timeCores(e, o, spec, phase)
	case spec.Native():
		return timeMeasured(e, o, spec, phase)
	case o.weights != "":
		return cli.Usagef("-weights is for times that are measured; -machine %s is modelled", o.device.MachineName)
	case o.forwardOnly:
		return cli.Usagef("-forward_only is for times that are measured; -machine %s is modelled and lists both directions", o.device.MachineName)
	}
	return timeModelled(e, o, spec, phase)
}

// timeMeasured builds the net on this computer and measures it.
func timeMeasured(e *cli.Env, o *timeOptions, spec cpe.Spec, phase caffepb.Phase) error {
	spec, without := o.modelled.leaveOut(spec)
	if err := checkPasses(without); err != nil {
		return err
	}
	if name := o.modelled.given(); name != "" {
		return fmt.Errorf("%s is for modelled machines; -machine %s is this computer", name, o.device.MachineName)
	}
	machine, err := cpe.New(spec, cpe.Native)
	if err != nil {
		return err
	}
	defer machine.Close()
	device := &layers.Device{Engine: o.device.Engine, Machine: machine, Random: layers.NewRandom(o.device.SeedOrTime()), Log: e.Log}
	if device.Force, device.Tuner, err = o.strategies.Read(e, o.device.Engine, spec); err != nil {
		return err
	}
	file, err := cli.ReadNet(e, o.model, &o.state)
	if err != nil {
		return err
	}
	if o.modelled.batch > 0 {
		if err := modeltime.SetBatch(file.Param, o.modelled.batch); err != nil {
			return cli.Usagef("-batch: %w", err)
		}
	}
	if o.weights != "" && o.forwardOnly && o.explain == "" && !o.passes {
		device.Stored, _ = solver.StoredLayers(nil, o.weights) // LoadTrained has the error, after those of the net
	}
	n, err := cli.BuildNet(file, phase, &o.state, swnet.Options{Device: device, Economise: true, ForwardOnly: o.forwardOnly, Without: without})
	if err != nil {
		return err
	}
	defer n.Close()
	if err := o.strategies.Check(e.Log, n); err != nil {
		return err
	}
	switch {
	case o.explain != "":
		return explain(e, n, o)
	case o.passes:
		if err := printPasses(e.Tables, n); err != nil || spec.Precision() == "" && !rounds(n) || spec.Precision() == cpe.FP32 {
			return err
		}
		return printPrecision(e.Tables, n)
	}
	if o.weights != "" {
		if _, err := solver.LoadTrained(n, o.weights, e.Log); err != nil {
			return err
		}
	}
	return benchmark(e, n, o)
}

// printPasses prints what the passes over a net's tasks did.
func printPasses(w io.Writer, n *swnet.Net) error {
	for _, note := range n.Passes() {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}

// benchmark runs the net and reports.
func benchmark(e *cli.Env, n *swnet.Net, o *timeOptions) error {
	if err := warmUp(e, n, o.forwardOnly); err != nil {
		return err
	}
	e.Log.Info("*** Benchmark begins ***")
	e.Log.Infof("Testing for %d iterations.", o.iterations)
	times := make([]layerTimes, n.NumLayers())
	for i := range o.iterations {
		start := time.Now()
		if err := timeIteration(n, times, o.forwardOnly); err != nil {
			return err
		}
		e.Log.Infof("Iteration: %d %s time: %s ms.", i+1, o.measured(), caffelog.Figure(ms(time.Since(start))))
	}
	r := newTimeReport(n, times, o)
	r.log(e)
	o.strategies.Log(e.Log, n, o.device.Engine)
	logLayouts(e.Log, n)
	return e.WriteJSON(o.json, r)
}

// warmUp runs two iterations that are not measured: the first allocates, the second meets cold caches. It reports the loss as Caffe does.
func warmUp(e *cli.Env, n *swnet.Net, forwardOnly bool) error {
	e.Log.Info("Performing Forward")
	loss, err := n.Forward()
	if err != nil {
		return err
	}
	e.Log.Infof("Initial loss: %s", caffelog.Figure(loss))
	if !forwardOnly {
		e.Log.Info("Performing Backward")
		n.ClearParamDiffs()
		if err := n.Backward(nil); err != nil {
			return err
		}
	}
	return timeIteration(n, make([]layerTimes, n.NumLayers()), forwardOnly)
}

// timeIteration runs one pass of each direction and appends every layer's times. Backward takes no time if it does not run.
func timeIteration(n *swnet.Net, times []layerTimes, forwardOnly bool) error {
	if !forwardOnly {
		n.ClearParamDiffs()
	}
	for i := range times {
		t := time.Now()
		if _, err := n.ForwardLayer(i); err != nil {
			return err
		}
		times[i].forward = append(times[i].forward, time.Since(t))
		if forwardOnly {
			times[i].backward = append(times[i].backward, 0)
		}
	}
	if forwardOnly {
		return nil
	}
	for i := len(times) - 1; i >= 0; i-- {
		t := time.Now()
		if err := n.BackwardLayer(i); err != nil {
			return err
		}
		times[i].backward = append(times[i].backward, time.Since(t))
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
