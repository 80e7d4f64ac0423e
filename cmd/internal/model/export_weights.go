package model

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/tensors"
	"github.com/swcaffe/swcaffe/solver"
)

// ExportWeights is the command export_weights.
var ExportWeights = cli.Command{
	Name:     "export_weights",
	Synopsis: "write trained weights as safetensors or npz, for PyTorch and numpy",
	Args:     "-model FILE -weights FILES -o FILE.safetensors|FILE.npz [-names FILE]",
	Example:  "swcaffe export_weights -model models/lenet/deploy.prototxt -weights lenet.caffemodel -o lenet.safetensors",
	Help: `Writes the weights of a net's layers as float32 arrays, each named LAYER/INDEX as in conv1/0 (its weights) and conv1/1 (its biases). A weight that
layers share is written once, under the layer that owns it. With -names it writes the weights that a text file names, under the names there: lines
"conv1/0 = features.0.weight", with # before comments.

Values and shapes are Caffe's. PyTorch's Conv2d, ConvTranspose2d, Linear, PReLU and Embedding have the same order of axes, so that nothing is transposed.
docs/weights.md says what else differs, as the factor of BatchNorm and the gates of LSTM.`,
	Do: cli.With(exportWeightsFlags, exportWeights),
}

func exportWeightsFlags(fs *flag.FlagSet, o *exportWeightsOptions) {
	o.net.register(fs)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.OutputVar(fs, &o.out, "o", "the `FILE` to write: .safetensors or .npz")
}

type exportWeightsOptions struct {
	net          weightsNet
	weights, out string
}

func exportWeights(e *cli.Env, o *exportWeightsOptions) error {
	switch {
	case o.net.model == "":
		return cli.Usagef("need a net definition: -model FILE")
	case o.weights == "":
		return cli.Usagef("need trained weights: -weights FILES")
	case o.out == "":
		return cli.Usagef("need a file to write: -o FILE%s", strings.Join(tensors.Formats(), " or -o FILE"))
	}
	if err := tensors.CheckPath(o.out); err != nil {
		return cli.Usagef("-o %s", err)
	}
	n, own, m, done, err := o.net.open(e)
	if err != nil {
		return err
	}
	defer done()
	if _, err := solver.LoadTrained(n, o.weights, e.Log); err != nil {
		return err
	}
	var list []tensors.Tensor
	var without []string
	for i, w := range own {
		name := m.name(w)
		factor := m.factor(own, i)
		switch {
		case name == "" && !m.divides(own, i):
			without = append(without, w.name)
			continue
		case name == "":
			continue
		}
		t := tensors.Tensor{Name: name, Shape: w.blob.Shape(), Values: w.blob.Values()}
		if factor >= 0 {
			t.Values = divided(t.Values, own[factor].blob.Values()[0])
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return fmt.Errorf("%s: no weights to write", o.net.model)
	}
	if len(without) > 0 {
		e.Log.Warnf("Left out, since %s does not name them: %s", m.path, strings.Join(without, ", "))
	}
	return e.CreateFile(o.out, func(w io.Writer) error { return tensors.Write(w, o.out, list) })
}

// divided returns the statistics of BatchNorm that sums stand for. As in Caffe a factor of 0 makes them 0.
func divided(sums []float32, factor float32) []float32 {
	values := make([]float32, len(sums))
	if factor != 0 {
		for i, v := range sums {
			values[i] = v / factor
		}
	}
	return values
}
