package model

import (
	"flag"
	"path/filepath"
	"strings"

	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/intake"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// ImportONNX is the command import_onnx.
var ImportONNX = cli.Command{
	Name:     "import_onnx",
	Synopsis: "make a prototxt and a caffemodel of an ONNX file",
	Args:     "MODEL.onnx [-o NAME] [-batch N]",
	Example:  "swcaffe import_onnx resnet18.onnx -o resnet18",
	Words:    []string{"in"},
	Help: `Writes NAME.prototxt and NAME.caffemodel. NAME is that of the model without .onnx, unless -o gives it. A file of export_onnx becomes the
exported net again. For other models import_onnx folds constants, removes transposes between channels last and first, and turns each
operator into layers of Caffe. If no layer computes an operator, the error names its node. docs/onnx.md lists the operators.`,
	Do: cli.With(importONNXFlags, importONNX),
}

func importONNXFlags(fs *flag.FlagSet, o *importONNXOptions) {
	cli.StringVar(fs, &o.in, "in", "", "the ONNX `FILE` to read", cli.ONNX)
	fs.StringVar(&o.out, "o", "", "the `NAME` of the files to write, without .prototxt and .caffemodel")
	fs.IntVar(&o.batch, "batch", 1, "the extent of axes that the model leaves open")
}

type importONNXOptions struct {
	in, out string
	batch   int
}

func importONNX(e *cli.Env, o *importONNXOptions) error {
	switch {
	case o.in == "":
		return cli.Usagef("need an ONNX file: swcaffe import_onnx MODEL.onnx")
	case o.batch < 1:
		return cli.Usagef("-batch %d: it must be positive", o.batch)
	}
	name := o.out
	if name == "" {
		name = strings.TrimSuffix(o.in, filepath.Ext(o.in))
	}
	for _, ending := range []string{".prototxt", ".caffemodel"} {
		if err := swproto.CheckWritable(name + ending); err != nil {
			return err
		}
	}
	m, err := onnx.Read(o.in)
	if err != nil {
		return err
	}
	machine, err := (&cli.DeviceFlags{EngineName: "mpe", MachineName: "host"}).NewMachine(e)
	if err != nil {
		return err
	}
	defer machine.Close()
	device := &layers.Device{Engine: layers.MPE, Machine: machine, Random: layers.NewRandom(1), Log: e.Log}
	r, err := intake.Net(m, o.batch, device)
	if err != nil {
		return err
	}
	for _, note := range r.Notes {
		e.Log.Info(note)
	}
	if err := e.WriteBinary(name+".caffemodel", r.Weights); err != nil {
		return err
	}
	return e.WriteFile(name+".prototxt", swproto.MarshalText(r.Net))
}
