package dataset

import (
	"embed"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// zooNet is a net that init fits to images.
type zooNet struct {
	name             string // of its file in templates
	title            string
	largest          int     // images up to this side use the net
	size             int     // its usual input
	epochs           int     // of its usual training
	scale            string  // of pixels, after the mean is subtracted
	rate             float64 // the first learning rate
	batch, testBatch int     // the most images of a batch
}

// base is a net without data layers and losses.
type base struct {
	zooNet
	input, scores string // blobs
	channels      int    // of the input; 0: as the images have
	// layers are those from the input to the scores, of a net that a template does not have; head is the one with outputs for classes.
	layers []*caffepb.LayerParameter
	head   *caffepb.LayerParameter
}

// autoNet lets init choose the net.
const autoNet = "auto"

// zoo lists the nets by the size of the images they suit.
var zoo = suggest.Table[zooNet]{Kind: "net", Kinds: "nets", Name: func(n zooNet) string { return n.name }, Entries: []zooNet{
	{"lenet", "LeNet", 28, 28, 20, "0.00390625", 0.01, 64, 100},
	{"cifar10_quick", "CIFAR-10 quick", 48, 32, 20, "0.0078125", 0.05, 64, 100},
	{"resnet8", "ResNet-8", mostInitSide, 64, 20, "0.0078125", 0.05, 64, 100},
}}

// Sides of images for these nets.
const (
	leastSide    = 16
	mostInitSide = 512
)

// baseFor returns the base of a training: a net of the zoo, or of a file.
func (o *initOptions) baseFor(e *cli.Env, side, classes int) (*base, error) {
	if namesFile(o.net) {
		return readBase(e, o.net, classes)
	}
	return &base{zooNet: netFor(o.net, side), input: "data", scores: "scores"}, nil
}

// netFor returns the net of a name, or for auto the one that suits images of some side.
func netFor(name string, side int) zooNet {
	for _, n := range zoo.Entries {
		if n.name == name || name == autoNet && side <= n.largest {
			return n
		}
	}
	return zoo.Entries[len(zoo.Entries)-1]
}

// templates holds parts of nets, and the solver. They are prototxts with variables such as $Classes.
//
//go:embed templates
var templates embed.FS

// fill joins templates and replaces their variables.
func (p *trainingPlan) fill(names ...string) string {
	values := p.variables()
	var b strings.Builder
	for _, name := range names {
		text, err := templates.ReadFile("templates/" + name + ".prototxt")
		if err != nil {
			panic("dataset: " + err.Error())
		}
		b.WriteString(os.Expand(string(text), func(variable string) string {
			value, known := values[variable]
			if !known {
				panic(fmt.Sprintf("dataset: template %s has the unknown variable $%s", name, variable))
			}
			return value
		}))
	}
	return b.String()
}

// variables returns the values of the templates' variables.
func (p *trainingPlan) variables() map[string]string {
	crop, mirror, weights, firstStride := "", "", "", 1
	if p.weights != "" {
		weights = "\n# The training begins with these weights. Layers that have some learn at a tenth of the usual rate.\nweights: " + swproto.Quote(p.weights)
	}
	if p.crop > 0 {
		crop = fmt.Sprintf(" crop_size: %d", p.crop)
	}
	if p.mirror {
		mirror = " mirror: true"
	}
	if p.input > 48 {
		firstStride = 2 // of resnet8's first convolution: large inputs have details to spare
	}
	return map[string]string{
		"Channels": strconv.Itoa(p.channels), "Input": strconv.Itoa(p.input), "Classes": strconv.Itoa(len(p.classes)), "FirstStride": strconv.Itoa(firstStride),
		"Net": p.net.name, "Folder": p.quoted(), "NetFile": p.quoted(netFile), "Prefix": p.quoted(p.net.name),
		"Train": p.quoted(trainDB), "Test": p.quoted(testDB), "Mean": p.quoted(meanFile), "Crop": crop, "Mirror": mirror,
		"Blob": swproto.Quote(p.base.input), "Scores": swproto.Quote(p.base.scores), "Weights": weights, "BestFile": path.Join(filepath.ToSlash(p.out), p.net.name+"_best.caffemodel"),
		"Scale": p.net.scale, "Rate": strconv.FormatFloat(p.net.rate, 'g', 6, 64), "Seed": strconv.FormatUint(p.seed&math.MaxInt32, 10),
		"Batch": strconv.Itoa(p.batch), "TestBatch": strconv.Itoa(p.testBatch), "TestIter": strconv.Itoa(p.testIter), "TestInterval": strconv.Itoa(p.testInterval),
		"Display": strconv.Itoa(p.display), "MaxIter": strconv.Itoa(p.maxIter), "Backup": strconv.Itoa(p.backup),
	}
}

// quoted returns the path of the folder of the training, or of a file in it, as a string of a prototxt.
func (p *trainingPlan) quoted(names ...string) string {
	return swproto.Quote(path.Join(append([]string{filepath.ToSlash(p.out)}, names...)...))
}

// body is the text of the layers between data and scores.
func (p *trainingPlan) body() string {
	if p.base.layers == nil {
		return p.fill(p.net.name, "scores")
	}
	return string(swproto.MarshalText(&caffepb.NetParameter{Layer: p.base.layers}))
}

// deployText is the net for classifying.
func (p *trainingPlan) deployText() string { return p.fill("input") + p.body() + p.fill("prob") }

// writeNets writes the nets and the solver.
func (p *trainingPlan) writeNets(folder string) error {
	head := fmt.Sprintf("# %s for the images of %s", p.net.title, p.quoted())
	name := fmt.Sprintf("name: %q\n", p.net.name)
	for _, f := range []struct{ name, text string }{
		{netFile, head + ". Paths begin where init was called.\n" + name + p.fill("data") + p.body() + p.fill("loss") + "\n"},
		{deployFile, head + ": for classifying.\n" + name + p.deployText() + "\n"},
		{solverFile, p.fill("solver")},
	} {
		if err := os.WriteFile(filepath.Join(folder, f.name), []byte(f.text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
