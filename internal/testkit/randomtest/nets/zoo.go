package nets

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// A piece of a model zoo net has realistic sizes: some consecutive layers of the net's deploy.prototxt, with random weights,
// images of the net's own size, and a batch as large as the plain path can compute in some seconds.

// zooNet is a net of the model zoo, and the shapes of its blobs by name: for the file's batch, and for twice that batch if the net can be
// built with it. A net whose Reshape layers join its images in one row cannot.
type zooNet struct {
	param           *caffepb.NetParameter
	shapes, doubled map[string][]int
	batch           int // the file's
}

// zooBatches are the batch sizes to draw from: usual ones for inference and for training.
var zooBatches = []int{1, 1, 2, 4, 8, 10, 16, 32, 50, 64, 100, 128, 256}

// Limits of a piece: multiply-adds of Forward, values of blobs, and weights.
const zooWork, zooValues, zooWeights = 6e7, 3e6, 5e6

// zoo reads the nets once, from the models folder of the repository around the working directory.
var zoo = sync.OnceValues(func() ([]zooNet, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(root, "models", "*", "deploy.prototxt"))
	if err != nil {
		return nil, err
	}
	var nets []zooNet
	for _, file := range files {
		n, err := readZooNet(file)
		if err != nil {
			return nil, err
		}
		nets = append(nets, n)
	}
	return nets, nil
})

// repository returns the nearest folder above the working directory with a go.mod.
func repository() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, none := os.Stat(filepath.Join(dir, "go.mod")); none == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above the working folder: run this in the repository, whose models it reads")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// readZooNet reads a net and computes its shapes.
func readZooNet(file string) (zooNet, error) {
	read, err := swproto.ReadNet(file)
	if err != nil {
		return zooNet{}, err
	}
	z := zooNet{param: read.Param}
	if z.shapes, err = shapesOf(read.Param); err != nil {
		return zooNet{}, fmt.Errorf("%s: %w", file, err)
	}
	twice := proto.Clone(read.Param).(*caffepb.NetParameter)
	for _, l := range twice.Layer {
		for _, shape := range l.GetInputParam().GetShape() {
			z.batch = max(z.batch, int(shape.Dim[0]))
			shape.Dim[0] *= 2
		}
	}
	if z.doubled, err = shapesOf(twice); err != nil {
		z.doubled = nil
	}
	return z, nil
}

// shapesOf builds a net on a machine that stores no values, and returns the shapes of its blobs.
func shapesOf(param *caffepb.NetParameter) (map[string][]int, error) {
	spec, err := cpe.Load("sw26010")
	if err != nil {
		return nil, err
	}
	m, err := cpe.New(spec, cpe.CostOnly)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	n, err := swnet.New(proto.Clone(param).(*caffepb.NetParameter), swnet.Options{
		State:  &caffepb.NetState{Phase: caffepb.Phase_TRAIN.Enum()},
		Device: &layers.Device{Engine: layers.CPE, Machine: m, Random: layers.NewRandom(1)},
	})
	if err != nil {
		return nil, err
	}
	defer n.Close()
	shapes := map[string][]int{}
	for _, name := range n.BlobNames() {
		shapes[name] = slices.Clone(n.Blob(name).Shape())
	}
	return shapes, nil
}

// CheckZoo returns an error if the zoo's nets, from which RandomPiece draws, cannot be read.
func CheckZoo() error {
	_, err := zoo()
	return err
}

// RandomPiece draws a piece of a net of the zoo.
func RandomPiece(r *rand.Rand) randomtest.Problem {
	nets, err := zoo()
	if err != nil {
		panic(err)
	}
	p := &problem{use: []string{train, train, test, inference}[r.IntN(4)], seed: r.Uint64N(1 << 32), procs: 2}
	p.threads = []randomtest.Threads{{1}, randomtest.RandomThreads(r)}
	p.strategy = []shape.Strategy{shape.Auto, shape.Auto, shape.Implicit, shape.Winograd2}[r.IntN(4)]
	for {
		z := nets[r.IntN(len(nets))]
		first := r.IntN(len(z.param.Layer))
		last := min(len(z.param.Layer), first+1+r.IntN(6))
		batch := zooBatches[r.IntN(len(zooBatches))]
		if z.doubled == nil {
			batch = z.batch
		}
		if p.net = z.piece(first, last, batch, r.IntN(3) == 0); p.net != nil {
			return p
		}
	}
}

// piece returns the layers first <= i < last for a batch size. Inputs replace the earlier layers, and sums as losses the later
// ones. It returns nil if the piece is empty or too large.
func (z *zooNet) piece(first, last, batch int, force bool) *caffepb.NetParameter {
	p := &piece{zooNet: z, batch: batch, inputs: map[string]string{}, read: map[string]bool{}}
	if force {
		p.net.ForceBackward = proto.Bool(true)
	}
	for _, l := range z.param.Layer[first:last] {
		if l.GetType() == "Input" {
			return nil
		}
		p.add(proto.Clone(l).(*caffepb.LayerParameter))
	}
	if p.work > zooWork || p.values > zooValues || p.weights > zooWeights {
		return nil
	}
	p.end()
	return &p.net
}

// piece is a piece under construction.
type piece struct {
	*zooNet
	net    caffepb.NetParameter
	batch  int
	inputs map[string]string // new names of blobs from earlier layers; a name decides the values of its input
	read   map[string]bool   // by new name: whether a layer reads its latest values
	names  []string          // blobs made by the piece's layers

	work, weights float64
	values        int
}

// add adds a layer, and inputs for blobs that no layer of the piece makes.
func (p *piece) add(l *caffepb.LayerParameter) {
	l.Include, l.Exclude = nil, nil
	fillLayer(l)
	bottom, top := slices.Clone(l.Bottom), slices.Clone(l.Top)
	for k, name := range bottom {
		if _, made := p.read[p.name(name)]; !made {
			p.inputs[name] = inputName(l, k, len(p.inputs))
			p.net.Layer = append(p.net.Layer, p.input(name, p.inputs[name], p.batch))
		}
		l.Bottom[k] = p.name(name)
		p.read[l.Bottom[k]] = true
	}
	for k, name := range top {
		l.Top[k] = p.name(name)
		p.read[l.Top[k]] = false
		p.names = append(p.names, l.Top[k])
		p.values += p.batch * count(p.shapes[name][min(1, len(p.shapes[name])):])
	}
	products := p.products(l, append(bottom, "")[0], top)
	p.work += products
	if shape := p.shapes[append(top, "")[0]]; l.InnerProductParam != nil || l.ConvolutionParam != nil {
		p.weights += products / float64(p.batch*count(shape[min(2, len(shape)):]))
	}
	p.net.Layer = append(p.net.Layer, l)
}

// name returns a blob's name in the piece.
func (p *piece) name(blob string) string {
	if as := p.inputs[blob]; as != "" {
		return as
	}
	return blob
}

// end adds a loss for each unread blob.
func (p *piece) end() {
	for i, name := range p.names {
		if p.read[name] {
			continue
		}
		p.read[name] = true
		p.net.Layer = append(p.net.Layer, &caffepb.LayerParameter{
			Name: proto.String(fmt.Sprint("sum", i)), Type: proto.String("Reduction"), Bottom: []string{name}, Top: []string{fmt.Sprint("sum", i)},
			ReductionParam: &caffepb.ReductionParameter{Operation: caffepb.ReductionParameter_SUMSQ.Enum()}, LossWeight: []float32{0.5},
		})
	}
}

// inputName returns a name for the input that replaces bottom k of a layer. The name decides the input's values.
func inputName(l *caffepb.LayerParameter, k, i int) string {
	switch {
	case l.GetType() == "Embed":
		return fmt.Sprintf("index%d_%d", l.GetEmbedParam().GetInputDim(), i)
	case k == 1 && (l.GetType() == "LSTM" || l.GetType() == "RNN"):
		return fmt.Sprintf("flag_%d", i)
	case k == 1 && slices.Contains([]string{"ROIPooling", "ROIAlign", "PSROIPooling"}, l.GetType()):
		return fmt.Sprintf("region_%d", i)
	case k == 2 && l.GetType() == "Proposal":
		return fmt.Sprintf("size_%d", i)
	}
	return fmt.Sprintf("gauss_%d", i)
}

// input returns an Input layer with the shape of a blob. Blobs without an axis of images, such as prior boxes, have the same shape in every
// batch.
func (z *zooNet) input(name, as string, batch int) *caffepb.LayerParameter {
	shape := &caffepb.BlobShape{}
	for i, d := range z.shapes[name] {
		if i == 0 && z.doubled != nil && z.doubled[name][0] > d {
			d = d / z.batch * batch
		}
		shape.Dim = append(shape.Dim, int64(d))
	}
	return &caffepb.LayerParameter{
		Name: proto.String("input_" + as), Type: proto.String("Input"), Top: []string{as}, InputParam: &caffepb.InputParameter{Shape: []*caffepb.BlobShape{shape}},
	}
}

// products estimates a layer's multiply-adds: the values of its tops, each times the number of its terms.
func (p *piece) products(l *caffepb.LayerParameter, bottom string, tops []string) float64 {
	var values float64
	for _, name := range tops {
		if s := p.shapes[name]; len(s) > 0 {
			values += float64(p.batch * count(s[1:]))
		}
	}
	switch in := p.shapes[bottom]; l.GetType() {
	case "Convolution", "Deconvolution":
		c := l.GetConvolutionParam()
		side := append(slices.Clone(c.KernelSize), c.GetKernelH(), 1)
		return values * float64(in[1]) / float64(c.GetGroup()) * float64(max(1, side[0]*side[0]))
	case "InnerProduct":
		return values * float64(count(in[1:]))
	case "LSTM", "RNN":
		return values * float64(4*(count(in[2:])+int(l.GetRecurrentParam().GetNumOutput())))
	}
	return 10 * values
}

// fillLayer adds fillers for a layer's weights, which a deploy.prototxt lacks.
func fillLayer(l *caffepb.LayerParameter) {
	weights := &caffepb.FillerParameter{Type: proto.String("msra")}
	biases := &caffepb.FillerParameter{Type: proto.String("gaussian"), Std: proto.Float32(0.1)}
	switch {
	case l.ConvolutionParam != nil:
		l.ConvolutionParam.WeightFiller, l.ConvolutionParam.BiasFiller = weights, biases
	case l.InnerProductParam != nil:
		l.InnerProductParam.WeightFiller, l.InnerProductParam.BiasFiller = weights, biases
	case l.RecurrentParam != nil:
		l.RecurrentParam.WeightFiller = &caffepb.FillerParameter{Type: proto.String("uniform"), Min: proto.Float32(-0.1), Max: proto.Float32(0.1)}
	case l.GetType() == "Scale":
		if l.ScaleParam == nil {
			l.ScaleParam = &caffepb.ScaleParameter{}
		}
		l.ScaleParam.Filler = &caffepb.FillerParameter{Type: proto.String("gaussian"), Mean: proto.Float32(1), Std: proto.Float32(0.2)}
	}
}
