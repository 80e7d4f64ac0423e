package nets

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/internal/randomtest"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// A piece of a net of the zoo has the extents and widths that people have: some layers in a row, as the net's deploy.prototxt has them, with
// random weights, images of the net's own size, and as large a batch as the plain path can compute in some seconds.

// zooNet is a net of the zoo and the shapes of its blobs, by name.
type zooNet struct {
	param  *caffepb.NetParameter
	shapes map[string][]int
}

// zooBatches are the batches that are drawn: those of inference, and of solvers.
var zooBatches = []int{1, 1, 2, 4, 8, 10, 16, 32, 50, 64, 100, 128, 256}

// What a piece takes at most forward: multiply-adds, values of blobs, and weights.
const zooWork, zooValues, zooWeights = 6e7, 3e6, 5e6

// zoo reads the nets once: those in the models folder of the repository that the program is run in.
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

// repository is the folder with go.mod above the working one.
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

// readZooNet reads a net and works out its shapes on a machine that holds no values.
func readZooNet(file string) (zooNet, error) {
	read, err := swproto.ReadNet(file)
	if err != nil {
		return zooNet{}, err
	}
	spec, err := cpe.Load("sw26010")
	if err != nil {
		return zooNet{}, err
	}
	m, err := cpe.New(spec, cpe.CostOnly)
	if err != nil {
		return zooNet{}, err
	}
	defer m.Close()
	n, err := swnet.New(proto.Clone(read.Param).(*caffepb.NetParameter), swnet.Options{
		State:  &caffepb.NetState{Phase: caffepb.Phase_TRAIN.Enum()},
		Device: &layers.Device{Engine: layers.CPE, Machine: m, Random: layers.NewRandom(1)},
	})
	if err != nil {
		return zooNet{}, fmt.Errorf("%s: %w", file, err)
	}
	defer n.Close()
	z := zooNet{read.Param, map[string][]int{}}
	for _, name := range n.BlobNames() {
		z.shapes[name] = slices.Clone(n.Blob(name).Shape())
	}
	return z, nil
}

// RandomPiece draws a piece of a net of the zoo.
func RandomPiece(r *rand.Rand) randomtest.Problem {
	nets, err := zoo()
	if err != nil {
		panic(err)
	}
	p := &problem{use: []string{train, train, test, inference}[r.IntN(4)], seed: r.Uint64N(1 << 32), procs: 2}
	p.threads = []randomtest.Threads{{1}, randomtest.RandomThreads(r)}
	p.strategy = []kernel.Strategy{kernel.Auto, kernel.Auto, kernel.Implicit, kernel.Winograd2}[r.IntN(4)]
	for {
		z := nets[r.IntN(len(nets))]
		first := r.IntN(len(z.param.Layer))
		last := min(len(z.param.Layer), first+1+r.IntN(6))
		batch := zooBatches[r.IntN(len(zooBatches))]
		if p.net = z.piece(first, last, batch, r.IntN(3) == 0); p.net != nil {
			return p
		}
	}
}

// piece is layers first <= i < last for a batch, with inputs in the place of what stands before them and sums as losses behind; nil if
// there is nothing in it, or too much.
func (z *zooNet) piece(first, last, batch int, force bool) *caffepb.NetParameter {
	net, made, read := &caffepb.NetParameter{}, map[string]bool{}, map[string]bool{}
	if force {
		net.ForceBackward = proto.Bool(true)
	}
	work, values, weights, ends := 0.0, 0, 0.0, []string{}
	for _, l := range z.param.Layer[first:last] {
		if l.GetType() == "Input" {
			return nil
		}
		l = proto.Clone(l).(*caffepb.LayerParameter)
		l.Include, l.Exclude = nil, nil
		fillLayer(l)
		for _, name := range l.Bottom {
			if !made[name] {
				net.Layer = append(net.Layer, z.input(name, batch))
				made[name] = true
			}
			read[name] = true
		}
		for _, name := range l.Top {
			made[name] = true
			read[name] = false
			ends = append(ends, name)
			values += batch * count(z.shapes[name][min(1, len(z.shapes[name])):])
		}
		products := z.work(l, batch)
		work += products
		if top := z.shapes[append(l.Top, "")[0]]; l.InnerProductParam != nil || l.ConvolutionParam != nil {
			weights += products / float64(batch*count(top[min(2, len(top)):]))
		}
		net.Layer = append(net.Layer, l)
	}
	if work > zooWork || values > zooValues || weights > zooWeights {
		return nil
	}
	for i, name := range slices.Compact(ends) {
		if !read[name] {
			read[name] = true
			net.Layer = append(net.Layer, &caffepb.LayerParameter{
				Name: proto.String(fmt.Sprint("sum", i)), Type: proto.String("Reduction"), Bottom: []string{name}, Top: []string{fmt.Sprint("sum", i)},
				ReductionParam: &caffepb.ReductionParameter{Operation: caffepb.ReductionParameter_SUMSQ.Enum()}, LossWeight: []float32{0.5},
			})
		}
	}
	return net
}

// input is an Input layer with the shape of a blob.
func (z *zooNet) input(name string, batch int) *caffepb.LayerParameter {
	shape := &caffepb.BlobShape{}
	for i, d := range z.shapes[name] {
		if i == 0 {
			d = batch
		}
		shape.Dim = append(shape.Dim, int64(d))
	}
	return &caffepb.LayerParameter{
		Name: proto.String("input_" + name), Type: proto.String("Input"), Top: []string{name}, InputParam: &caffepb.InputParameter{Shape: []*caffepb.BlobShape{shape}},
	}
}

// work is about how many values a layer's tops have, each times the products that it is summed of.
func (z *zooNet) work(l *caffepb.LayerParameter, batch int) float64 {
	var values float64
	for _, name := range l.Top {
		if s := z.shapes[name]; len(s) > 0 {
			values += float64(batch * count(s[1:]))
		}
	}
	switch bottom := z.shapes[append(l.Bottom, "")[0]]; l.GetType() {
	case "Convolution", "Deconvolution":
		c := l.GetConvolutionParam()
		side := append(slices.Clone(c.KernelSize), c.GetKernelH(), 1)
		return values * float64(bottom[1]) / float64(c.GetGroup()) * float64(max(1, side[0]*side[0]))
	case "InnerProduct":
		return values * float64(count(bottom[1:]))
	case "LSTM", "RNN":
		return values * float64(4*(count(bottom[2:])+int(l.GetRecurrentParam().GetNumOutput())))
	}
	return 10 * values
}

// fillLayer gives a layer's weights fillers, which a deploy.prototxt does not have.
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
