package nets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Check compares the net's CPE path with its MPE path, and the results on different numbers of threads with each other.
func (p *problem) Check() error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(p.procs))
	if err := p.byLayers(); err != nil {
		return err
	}
	if err := p.whole(); err != nil {
		return err
	}
	return p.divided()
}

// machines caches native machines by number of core groups, and the SW26010.
var (
	machines = map[int]*cpe.Machine{}
	sw26010  *cpe.Machine
)

func machine(t randomtest.Threads) (*cpe.Machine, error) {
	if m := machines[len(t)]; m != nil {
		return m, m.FixShares(t)
	}
	m, err := t.Machine()
	if err == nil {
		machines[len(t)] = m
	}
	return m, err
}

func modelled() (*cpe.Machine, error) {
	if sw26010 != nil {
		return sw26010, nil
	}
	spec, err := cpe.Load("sw26010")
	if err == nil {
		sw26010, err = cpe.New(spec, cpe.Functional)
	}
	return sw26010, err
}

// phase is the phase in which the net is built.
func (p *problem) phase() caffepb.Phase {
	if p.use == train {
		return caffepb.Phase_TRAIN
	}
	return caffepb.Phase_TEST
}

// build makes a net with filled inputs and BatchNorm statistics.
func (p *problem) build(engine layers.Engine, m *cpe.Machine, economise bool) (*swnet.Net, error) {
	n, err := swnet.New(proto.Clone(p.net).(*caffepb.NetParameter), swnet.Options{
		State:     &caffepb.NetState{Phase: p.phase().Enum()},
		Device:    &layers.Device{Engine: engine, Machine: m, Random: layers.NewRandom(p.seed), Force: op.Force{Family: p.strategy}, Share: p.share},
		Economise: economise, ForwardOnly: p.use == inference,
	})
	if err != nil {
		return nil, err
	}
	if economise && p.net.GetForceBackward() {
		for _, name := range inputs(n) {
			n.Blob(name) // makes the net keep the blob's gradient
		}
	}
	fillStatistics(n, p.seed)
	p.fill(n)
	return n, nil
}

// inputs lists the tops of Input layers.
func inputs(n *swnet.Net) (names []string) {
	for i := range n.NumLayers() {
		if n.LayerType(i) == "Input" {
			names = append(names, n.LayerParam(i).Top[0])
		}
	}
	return names
}

// fillStatistics fills the running sums of BatchNorm layers.
func fillStatistics(n *swnet.Net, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n.NumLayers() {
		if n.LayerType(i) != "BatchNorm" {
			continue
		}
		w := n.Layer(i).Params()
		for k := range w[0].Data() {
			w[0].Data()[k] = float32(0.3 * r.NormFloat64())
			w[1].Data()[k] = float32(0.5 + r.Float64())
		}
		w[2].Data()[0] = 1
	}
}

// fill fills Input layers with values of the kinds that the names of their tops state.
func (p *problem) fill(n *swnet.Net) {
	r := rand.New(rand.NewPCG(p.seed, 2))
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		name, x := n.LayerParam(i).Top[0], n.Tops(i)[0].Data()
		fillInput(r, name, x)
		if p.noise != nil && !wholeNumbers(name) {
			addNoise(p.noise, x, noise)
		}
	}
}

func fillInput(r *rand.Rand, name string, x []float32) {
	kind, _, _ := strings.Cut(name, "_")
	letters := strings.TrimRight(kind, "0123456789")
	below, _ := strconv.Atoi(kind[len(letters):])
	if width := map[string]int{"detection": 7, "object": 8, "truth": 5}[letters]; width > 0 {
		for i := 0; i+width <= len(x); i += width {
			fillBox(r, x[i:i+width], below)
		}
		return
	}
	for i := range x {
		switch letters {
		case "label", "index":
			x[i] = float32(r.IntN(max(1, below)))
		case "flag":
			x[i] = float32(min(1, r.IntN(4)))
		case "region": // of the first image: a few pixels
			if x[i] = 0; i%5 > 0 {
				x[i] = 12 * r.Float32()
			}
		case "size": // of the images: height, width and scale
			if x[i] = 60 + float32(r.IntN(60)); i%3 == 2 {
				x[i] = 1
			}
		case "prob":
			x[i] = r.Float32()
		default:
			x[i] = float32(r.NormFloat64())
		}
	}
}

// fillBox fills a detection (image, class, score and box) or an object (image, class, number, box, and whether it is difficult) of one of the
// given number of images, or a truth (class, of the given number, centre and sides).
func fillBox(r *rand.Rand, row []float32, images int) {
	if len(row) == 5 {
		copy(row, []float32{float32(r.IntN(max(1, images))), r.Float32(), r.Float32(), 0.1 + 0.5*r.Float32(), 0.1 + 0.5*r.Float32()})
		return
	}
	row[0], row[1], row[2] = float32(r.IntN(max(1, images))), float32(1+r.IntN(2)), r.Float32()
	for k := range 2 {
		row[3+k] = 0.7 * r.Float32()
		row[5+k] = row[3+k] + 0.1 + 0.2*r.Float32()
	}
	if len(row) == 8 {
		row[2], row[7] = 0, float32(r.IntN(2))
	}
}

// wholeNumbers reports whether a blob holds integers, such as labels, or boxes, to which no noise may be added.
func wholeNumbers(name string) bool {
	return slices.ContainsFunc([]string{"label", "index", "flag", "region", "detection", "object", "truth", "size"},
		func(kind string) bool { return strings.HasPrefix(name, kind) })
}

// run holds the results of an iteration.
type run struct {
	names  []string
	values [][]float32
}

func (r *run) add(name string, values []float32) {
	r.names, r.values = append(r.names, name), append(r.values, slices.Clone(values))
}

// passes are the forward and backward passes of a whole net.
type passes struct{}

func (passes) forward(n *swnet.Net) (float64, error) { return n.Forward() }
func (passes) backward(n *swnet.Net) error           { return n.Backward(nil) }

// iterate runs a net forward and, in training, backward, and returns the results.
func (p *problem) iterate(n *swnet.Net) (*run, error) { return p.iterateBy(n, passes{}) }

// iterateBy is iterate with other passes.
func (p *problem) iterateBy(n *swnet.Net, by interface {
	forward(*swnet.Net) (float64, error)
	backward(*swnet.Net) error
}) (*run, error) {
	p.fill(n)
	r := &run{}
	loss, err := by.forward(n)
	if err != nil {
		return nil, err
	}
	r.add("the loss", []float32{float32(loss)})
	for _, out := range n.Outputs() {
		name := "output " + out.Name
		if p.steps(out.Name) {
			name = stepped + out.Name
		}
		r.add(name, out.Blob.Data())
	}
	if p.use != train {
		return r, nil
	}
	n.ClearParamDiffs()
	if err := by.backward(n); err != nil {
		return nil, err
	}
	for _, w := range n.Learnable() {
		r.add(fmt.Sprintf("gradient %d of layer %s", w.Index, w.Layer), w.Blob.Diff())
	}
	for i := range n.NumLayers() {
		switch {
		case n.LayerType(i) == "BatchNorm":
			for k, w := range n.Layer(i).Params() {
				r.add(fmt.Sprintf("running sum %d of layer %s", k, n.LayerName(i)), w.Data())
			}
		case n.LayerType(i) == "Input" && p.net.GetForceBackward() && !wholeNumbers(n.LayerParam(i).Top[0]):
			r.add("gradient of input "+n.LayerParam(i).Top[0], n.Tops(i)[0].Diff())
		}
	}
	return r, nil
}

// stepped is the prefix for outputs that depend on the order of nearly equal values. Rounding can change them by large steps.
const stepped = "stepped output "

// deciding lists the layers that decide by the order of values or by thresholds.
var deciding = []string{"ArgMax", "Accuracy", "SegAccuracy", "DetectionOutput", "YoloDetectionOutput", "Yolov3DetectionOutput", "Proposal", "CTCGreedyDecoder"}

// steps reports whether a layer makes a blob from the order of values.
func (p *problem) steps(blob string) bool {
	for _, l := range p.net.Layer {
		if slices.Contains(l.Top, blob) && slices.Contains(deciding, l.GetType()) {
			return true
		}
	}
	return false
}

// step moves the weights against their gradients, by a hundredth of the weights' size.
func step(n *swnet.Net) {
	for _, w := range n.Learnable() {
		if w.LRMult == 0 {
			continue
		}
		size, slope := rms(w.Blob.Data()), rms(w.Blob.Diff())
		if slope == 0 || math.IsNaN(slope) || math.IsInf(slope, 0) {
			continue
		}
		rate := float32(0.01 * (size + 0.01) / slope)
		for i, g := range w.Blob.Diff() {
			w.Blob.Data()[i] -= rate * g
		}
	}
}

func rms(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(x))))
}

// copyWeights copies the weights of one net to another with the same layers.
func copyWeights(to, from *swnet.Net) {
	for i := range from.NumLayers() {
		for k, w := range from.Layer(i).Params() {
			copy(to.Layer(i).Params()[k].Data(), w.Data())
		}
	}
}

// rebatch changes the batch size of all inputs that have the first input's.
func rebatch(n *swnet.Net, to int) error {
	var batch int
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		b := n.Tops(i)[0]
		if batch == 0 {
			batch = b.Dim(0)
		}
		if b.Dim(0) == batch {
			b.Reshape(append([]int{to}, b.Shape()[1:]...)...)
		}
	}
	return n.Reshape()
}

func shapes(blobs []*blob.Blob) (all []string) {
	for _, b := range blobs {
		all = append(all, b.ShapeString())
	}
	return all
}
