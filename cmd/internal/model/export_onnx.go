package model

import (
	"flag"
	"fmt"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/export"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
)

// ExportONNX is the command export_onnx.
var ExportONNX = cli.Command{
	Name:     "export_onnx",
	Synopsis: "write a trained net as an ONNX file",
	Args:     "-model FILE -weights FILES -o FILE.onnx [-fold] [-states] [-batch N] [-opset N]",
	Example:  "swcaffe export_onnx -model models/lenet/deploy.prototxt -weights lenet.caffemodel -o lenet.onnx",
	Help: fmt.Sprintf(`Writes what the net computes in phase TEST, for any program that runs ONNX models. Blobs and layers keep their names; a value that a layer
overwrites in place is called BLOB@LAYER. The batch size is left open where every layer allows it. A BatchNorm layer and the Scale layer behind
it become one operator. docs/onnx.md lists the operators of each layer type. Opsets from %d to %d can be asked for.`, export.MinOpset, export.MaxOpset),
	Do: cli.With(exportONNXFlags, exportONNX),
}

func exportONNXFlags(fs *flag.FlagSet, o *exportONNXOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE`, usually a deploy.prototxt", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas; without them the fillers' values are written", cli.Weights)
	cli.OutputVar(fs, &o.out, "o", "the `FILE` to write")
	fs.IntVar(&o.opset, "opset", export.MinOpset, fmt.Sprintf("the version of ONNX's operators, %d to %d", export.MinOpset, export.MaxOpset))
	fs.BoolVar(&o.fold, "fold", false, "multiply BatchNorm, Scale and Bias layers into the weights before them")
	fs.BoolVar(&o.states, "states", false, "make inputs and outputs of the states that LSTM and RNN layers keep between runs")
	fs.BoolVar(&o.signed, "signed_weights", false, "write weights of layers in INT8 as int8, which some compilers want; without VNNI, ONNX Runtime may compute other values with them")
	fs.IntVar(&o.batch, "batch", 0, "fix the batch size (0: leave it open)")
	fs.Int64Var(&o.seed, "seed", 1, "random seed of the fillers")
	o.state.Register(fs)
}

type exportONNXOptions struct {
	model, weights, out string
	opset, batch        int
	fold, states        bool
	signed              bool
	seed                int64
	state               cli.StateFlags
}

func exportONNX(e *cli.Env, o *exportONNXOptions) error {
	switch {
	case o.model == "":
		return cli.Usagef("need a net definition: -model FILE")
	case o.out == "":
		return cli.Usagef("need a file to write: -o FILE.onnx")
	case o.batch < 0:
		return cli.Usagef("-batch %d: it must be positive, or 0", o.batch)
	case o.opset < export.MinOpset || o.opset > export.MaxOpset:
		return cli.Usagef("-opset %d: it must be from %d to %d", o.opset, export.MinOpset, export.MaxOpset)
	}
	file, err := cli.ReadNet(e, o.model, &o.state)
	if err != nil {
		return err
	}
	written, _, err := swnet.Filter(file.Param, o.state.StateOver(file, caffepb.Phase_TEST))
	if err != nil {
		return err
	}
	machine, err := (&cli.DeviceFlags{EngineName: "mpe", MachineName: "host"}).NewMachine(e)
	if err != nil {
		return err
	}
	defer machine.Close()
	device := &layers.Device{Engine: layers.MPE, Machine: machine, Random: layers.NewRandom(uint64(o.seed)), Log: e.Log}
	n, err := cli.BuildNet(file, caffepb.Phase_TEST, &o.state, swnet.Options{Device: device, ForwardOnly: true})
	if err != nil {
		return err
	}
	defer n.Close()
	if o.weights == "" {
		e.Log.Warn("No -weights: the file gets the values of the fillers")
	} else if _, err := solver.LoadTrained(n, o.weights, e.Log); err != nil {
		return err
	}
	r, err := export.Net(n, export.Options{
		Opset: o.opset, Fold: o.fold, States: o.states, SignedWeights: o.signed, Batch: o.batch, Net: written, Pos: positions(file),
	})
	if err != nil {
		return err
	}
	if r.Fixed != "" && o.batch == 0 {
		e.Log.Infof("The batch size stays as in the prototxt: %s", r.Fixed)
	}
	for _, why := range r.Misread {
		e.Log.Warn(why)
	}
	data, err := onnx.Marshal(r.Model)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", o.out, err)
	}
	return e.WriteFile(o.out, data)
}

// positions returns the function from a layer's name to its file and line.
func positions(file *swproto.Net) func(name string) string {
	return func(name string) string {
		for i, l := range file.Param.GetLayer() {
			if l.GetName() == name {
				return file.LayerPos(i)
			}
		}
		return ""
	}
}
