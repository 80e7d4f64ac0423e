package model

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/intake"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// ImportONNX is the command import_onnx.
var ImportONNX = cli.Command{
	Name:     "import_onnx",
	Synopsis: "make a prototxt and a caffemodel of an ONNX file",
	Args:     "MODEL.onnx [-o NAME] [-batch N] [-shape INPUT=N,C,H,W]",
	Example:  "swcaffe import_onnx resnet18.onnx -o resnet18",
	Words:    []string{"in"},
	Help: `Writes NAME.prototxt and NAME.caffemodel. NAME is that of the model without .onnx, unless -o gives it; only with -o it replaces files. A file of export_onnx becomes the
exported net again. For other models import_onnx folds constants, removes transposes between channels last and first, and turns each
operator into layers of Caffe. If no layer computes an operator, the error names its node. docs/onnx.md lists the operators. The first
extent of an input may be open in the model: -batch gives it. Give all extents with -shape where others are open too.`,
	Do: cli.With(importONNXFlags, importONNX),
}

func importONNXFlags(fs *flag.FlagSet, o *importONNXOptions) {
	cli.StringVar(fs, &o.in, "in", "", "the ONNX `FILE` to read", cli.ONNX)
	fs.StringVar(&o.out, "o", "", "the `NAME` of the files to write, without .prototxt and .caffemodel")
	fs.IntVar(&o.batch, "batch", 1, "the first extent of inputs, where the model leaves it open")
	o.shapes = map[string][]int{}
	fs.Func("shape", "`INPUT=N,C,H,W`: the extents of an input, some of which the model leaves open; may be given for several inputs", o.addShape)
}

type importONNXOptions struct {
	in, out string
	batch   int
	shapes  map[string][]int
}

// addShape reads INPUT=N,C,H,W. A name may contain an equals sign.
func (o *importONNXOptions) addShape(s string) error {
	at := strings.LastIndex(s, "=")
	if at < 1 {
		return fmt.Errorf("it must be INPUT=N,C,H,W, as x=1,3,320,320")
	}
	var dims []int
	for _, part := range strings.Split(s[at+1:], ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > blob.MaxCount {
			return fmt.Errorf("extent %q is no number from 1 to %d", part, blob.MaxCount)
		}
		dims = append(dims, n)
	}
	if _, twice := o.shapes[s[:at]]; twice {
		return fmt.Errorf("input %q has a shape already", s[:at])
	}
	o.shapes[s[:at]] = dims
	return nil
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
		if _, err := os.Stat(name + ending); err == nil && o.out == "" {
			return fmt.Errorf("%s exists already: -o NAME gives another name, and -o %s replaces it", name+ending, name)
		}
	}
	m, err := onnx.Read(o.in)
	if err != nil {
		return err
	}
	if err := intake.SetShapes(m, o.shapes); err != nil {
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
