package model

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/tensors"
)

// ImportWeights is the command import_weights.
var ImportWeights = cli.Command{
	Name:     "import_weights",
	Synopsis: "make a caffemodel of weights as safetensors or npz",
	Args:     "FILE.safetensors|FILE.npz -model FILE -o FILE.caffemodel [-names FILE] [-partial]",
	Example:  "swcaffe import_weights lenet.safetensors -model models/lenet/deploy.prototxt -names names.txt -o lenet.caffemodel",
	Words:    []string{"in"},
	Help: `Writes the weights of a net as a .caffemodel. The file has an array for every weight, named LAYER/INDEX as export_weights names them, or as the lines
"conv1/0 = features.0.weight" of -names say. Arrays may be float16, bfloat16, float32 or float64. Their shapes must be those of the net's weights, apart
from extents of 1. Without an array for some weight nothing is written, unless -partial says that layers without arrays are left out.

A BatchNorm layer whose mean and variance -names names, but not its factor, gets the factor 1. docs/weights.md compares the layers of PyTorch and Caffe.`,
	Do: cli.With(importWeightsFlags, importWeights),
}

func importWeightsFlags(fs *flag.FlagSet, o *importWeightsOptions) {
	cli.StringVar(fs, &o.in, "in", "", "the `FILE` to read: .safetensors or .npz", cli.AnyFile)
	o.net.register(fs)
	cli.OutputVar(fs, &o.out, "o", "the .caffemodel `FILE` to write")
	fs.BoolVar(&o.partial, "partial", false, "leave out layers of which the file has no weight")
}

type importWeightsOptions struct {
	in      string
	net     weightsNet
	out     string
	partial bool
}

func importWeights(e *cli.Env, o *importWeightsOptions) error {
	switch {
	case o.in == "":
		return cli.Usagef("need a file of weights: swcaffe import_weights FILE%s", strings.Join(tensors.Formats(), "|FILE"))
	case o.net.model == "":
		return cli.Usagef("need a net definition: -model FILE")
	case o.out == "":
		return cli.Usagef("need a file to write: -o FILE.caffemodel")
	}
	list, err := tensors.Read(o.in)
	if err != nil {
		return err
	}
	n, own, m, done, err := o.net.open(e)
	if err != nil {
		return err
	}
	defer done()
	t := taker{in: o.in, m: m, by: map[string]*tensors.Tensor{}, used: map[string]bool{}, has: map[string]bool{}, set: map[blob.Storage]bool{}}
	for i := range list {
		t.by[list[i].Name] = &list[i]
	}
	if err := t.takeAll(own); err != nil {
		return err
	}
	if missing := t.lacking(own, o.partial); len(missing) > 0 {
		return fmt.Errorf("%s: no array for %s; it has %s", o.in, strings.Join(missing, ", "), namesOf(list))
	}
	if len(t.has) == 0 {
		return fmt.Errorf("%s: none of its arrays is a weight of the net; it has %s", o.in, namesOf(list))
	}
	var unused []string
	for _, a := range list {
		if !t.used[a.Name] {
			unused = append(unused, a.Name)
		}
	}
	if len(unused) > 0 {
		e.Log.Warnf("Not taken, since no weight has these names: %s", strings.Join(unused, ", "))
	}
	p := n.ToProto(false)
	all := p.Layer
	p.Layer = nil
	for i, l := range all {
		if !slices.ContainsFunc(n.Layer(i).Params(), func(b *blob.Blob) bool { return !t.set[b.DataStorage()] }) {
			p.Layer = append(p.Layer, l)
		}
	}
	return e.WriteBinary(o.out, p)
}

// taker copies arrays of a file into the weights of a net.
type taker struct {
	in   string
	m    *mapping
	by   map[string]*tensors.Tensor
	used map[string]bool // arrays
	has  map[string]bool // layers that own a weight that was set
	set  map[blob.Storage]bool
}

func (t *taker) takeAll(own []netWeight) error {
	for i, w := range own {
		name := t.m.name(w)
		a := t.by[name]
		if name == "" || a == nil {
			if name != "" && t.m != nil {
				return fmt.Errorf("%s: no array %q, which %s names for %q", t.in, name, t.m.path, w.name)
			}
			continue
		}
		if a.Values == nil && tensors.Count(a.Shape) > 0 {
			return fmt.Errorf("%s: array %q for %q has type %s: it must be one of floating-point numbers", t.in, name, w.name, a.Type)
		}
		if !slices.Equal(extents(a.Shape), extents(w.blob.Shape())) {
			return fmt.Errorf("%s: array %q has shape %v, weight %q has %s", t.in, name, a.Shape, w.name, w.blob.ShapeString())
		}
		copy(w.blob.Data(), a.Values)
		t.used[name], t.has[w.layer()], t.set[w.blob.DataStorage()] = true, true, true
		if k := t.m.factor(own, i); k >= 0 {
			own[k].blob.Data()[0] = 1
			t.set[own[k].blob.DataStorage()] = true
		}
	}
	return nil
}

// lacking lists the weights that got no array, with partial only those of layers of which another one did.
func (t *taker) lacking(own []netWeight, partial bool) (names []string) {
	for i, w := range own {
		if name := t.m.name(w); t.used[name] || t.m.divides(own, i) || partial && !t.has[w.layer()] {
			continue
		}
		names = append(names, w.name)
	}
	return names
}

// extents returns the extents of a shape that are not 1. Arrays with the same ones hold their values in the same order.
func extents(shape []int) []int {
	return slices.DeleteFunc(slices.Clone(shape), func(d int) bool { return d == 1 })
}

func namesOf(list []tensors.Tensor) string {
	const most = 8
	var names []string
	for _, a := range list[:min(len(list), most)] {
		names = append(names, fmt.Sprintf("%q %v", a.Name, a.Shape))
	}
	if len(list) > most {
		names = append(names, fmt.Sprintf("and %d more", len(list)-most))
	}
	if len(names) == 0 {
		return "no arrays"
	}
	return strings.Join(names, ", ")
}
