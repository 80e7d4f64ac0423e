package dataset

import (
	"bytes"
	"embed"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/swcaffe/swcaffe/internal/suggest"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// zooNet is a net that init fits to images.
type zooNet struct {
	name    string
	largest int    // images up to this side use the net
	size    int    // its usual input
	epochs  int    // of its usual training
	scale   string // of pixels, after the mean is subtracted
	rate    string // the first learning rate
}

// autoNet lets init choose the net.
const autoNet = "auto"

// zoo lists the nets by the size of the images they suit. templates has a file for each.
var zoo = suggest.Table[zooNet]{Kind: "net", Kinds: "nets", Name: func(n zooNet) string { return n.name }, Entries: []zooNet{
	{"lenet", 28, 28, 20, "0.00390625", "0.01"},
	{"cifar10_quick", 48, 32, 20, "0.0078125", "0.05"},
	{"resnet8", mostInitSide, 64, 20, "0.0078125", "0.05"},
}}

// Sides of images for these nets.
const (
	leastSide    = 16
	mostInitSide = 512
)

// netFor returns the net of a name, or for auto the one that suits images of some side.
func netFor(name string, side int) zooNet {
	for _, n := range zoo.Entries {
		if n.name == name || name == autoNet && side <= n.largest {
			return n
		}
	}
	return zoo.Entries[len(zoo.Entries)-1]
}

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"unit": newUnit, "quote": swproto.Quote}).ParseFS(templateFiles, "templates/*"))

// netValues are the values in the templates.
type netValues struct {
	Deploy                   bool
	Channels, Input, Classes int
	Folder, Net, Scale, Rate string
	Train, Test, Mean        string
	Crop                     int
	Mirror                   bool
	Seed                     int64
	schedule
}

// FirstStride is the stride of resnet8's first convolution: 2 for larger inputs, whose details it can spare.
func (v netValues) FirstStride() int {
	if v.Input > 48 {
		return 2
	}
	return 1
}

// unit is a convolution of resnet8 with batch normalisation: no bias, and perhaps a ReLU.
type unit struct {
	Name, Bottom                 string
	Suffix                       string // of the names of its normalisation layers
	Outputs, Kernel, Pad, Stride int
	ReLU                         bool
}

func newUnit(name, bottom string, outputs, kernel, stride int, relu bool) unit {
	suffix := strings.TrimPrefix(name, "res")
	if suffix == name {
		suffix = "_" + name
	}
	return unit{name, bottom, suffix, outputs, kernel, kernel / 2, stride, relu}
}

// writeNets writes the nets and the solver.
func (p *trainingPlan) writeNets(folder string) error {
	in := func(name string) string { return filepath.ToSlash(filepath.Join(p.out, name)) }
	v := netValues{
		Channels: p.channels, Input: p.input, Classes: len(p.classes), Folder: filepath.ToSlash(p.out), Net: p.net.name, Scale: p.net.scale, Rate: p.net.rate,
		Train: in(trainDB), Test: in(testDB), Mean: in(meanFile), Crop: p.crop, Mirror: p.mirror, Seed: int64(p.seed & math.MaxInt32), schedule: p.schedule,
	}
	for _, f := range []struct {
		name, template string
		deploy         bool
	}{{netFile, p.net.name, false}, {deployFile, p.net.name, true}, {solverFile, "solver", false}} {
		v.Deploy = f.deploy
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, f.template+".prototxt", v); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, f.name), text.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}
