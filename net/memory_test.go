package net

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/net/schedule"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// player simulates a plan. For every place it records whether its last contents are still valid.
type player struct {
	t          *testing.T
	net        *Net
	placements []schedule.Place
	scratch    []schedule.Stretch
	whole      []bool
	reads      int
}

// find returns the index of the place of a blob's values or gradient, or -1 if the net keeps them.
func (m *player) find(b *blob.Blob, diff bool) int {
	for i, p := range m.placements {
		if p.Diff == diff && (!diff && p.Blob.SharesData(b) || diff && p.Blob.SharesDiff(b)) {
			return i
		}
	}
	return -1
}

func (m *player) write(b *blob.Blob, diff bool) {
	at := m.find(b, diff)
	if at < 0 {
		return
	}
	p := &m.placements[at]
	if p.Size < b.Count() {
		m.t.Errorf("%d values have room for %d", b.Count(), p.Size)
	}
	for i := range m.placements {
		if o := &m.placements[i]; o.From < p.From+p.Size && p.From < o.From+o.Size {
			m.whole[i] = false
		}
	}
	m.whole[at] = true
}

func (m *player) read(layer string, b *blob.Blob, diff bool) {
	if at := m.find(b, diff); at >= 0 {
		m.reads++
		if !m.whole[at] {
			m.t.Errorf("layer %s reads what is gone (gradient: %v)", layer, diff)
		}
	}
}

func (m *player) forward(i int) {
	traits := layers.TraitsOf(m.net.Layer(i))
	for j, b := range m.net.Bottoms(i) {
		m.read(m.net.LayerName(i), b, false)
		if traits.Traces.Has(j) {
			m.write(b, true)
		}
	}
	m.spoil(m.scratch[i])
	for _, t := range slices.Concat(traits.Keeps, m.net.Tops(i)) {
		m.write(t, false)
	}
}

// checkPieces checks that a piece of a layer's whole is where it belongs or does not touch the whole at all.
func (m *player) checkPieces(i int) {
	traits := layers.TraitsOf(m.net.Layer(i)).Whole
	whole, pieces := m.net.Tops(i)[0], m.net.Bottoms(i)
	if traits.Bottom {
		whole, pieces = m.net.Bottoms(i)[0], m.net.Tops(i)
	}
	w := m.placements[m.find(whole, false)]
	standing := 0
	for k, b := range pieces {
		at := m.find(b, false)
		if at < 0 {
			continue
		}
		p := m.placements[at]
		touches := p.From < w.From+w.Size && w.From < p.From+p.Size
		first := slices.IndexFunc(pieces, b.SharesData)
		if touches && p.From != w.From+traits.Starts[k] && p.From != w.From+traits.Starts[first] {
			m.t.Errorf("layer %s: piece %d begins at %d of its whole, not at %d", m.net.LayerName(i), k, p.From-w.From, traits.Starts[k])
		}
		if touches {
			standing++
		}
	}
	if standing == 0 {
		m.t.Errorf("layer %s: no piece stands in the whole", m.net.LayerName(i))
	}
}

// spoil records that kernels have written to a stretch.
func (m *player) spoil(s schedule.Stretch) {
	for i, p := range m.placements {
		if p.From < s.From+s.Size && s.From < p.From+p.Size {
			m.whole[i] = false
		}
	}
}

func (m *player) backward(i int) {
	name, traits := m.net.LayerName(i), layers.TraitsOf(m.net.Layer(i))
	params, last := m.net.plan.BackSteps(i)
	m.spoil(m.scratch[params])
	for _, b := range traits.Keeps {
		m.read(name, b, false)
	}
	for k, t := range m.net.Tops(i) {
		if m.net.nodes[i].Loss[k] != 0 {
			m.write(t, true)
		}
		m.read(name, t, true)
		if !traits.Unread.Tops {
			m.read(name, t, false)
		}
	}
	parted := m.net.plan.Tasks[i].Parted()
	for j, b := range m.net.Bottoms(i) {
		if !traits.Unread.Bottoms.Has(j) && parted {
			m.read(name, b, false)
		}
	}
	m.spoil(m.scratch[last])
	for j, b := range m.net.Bottoms(i) {
		if !traits.Unread.Bottoms.Has(j) && !parted {
			m.read(name, b, false)
		}
		if m.net.Propagates(i, j) {
			m.write(b, true)
		}
	}
}

// play simulates a net's plan. Every layer writes its results before it has finished reading, since kernels process arrays tile by tile.
func play(t *testing.T, n *Net, backward bool) {
	m := &player{t: t, net: n}
	plan := n.plan.PlaceAll()
	m.placements, m.scratch = plan.Places, plan.Scratch
	m.whole = make([]bool, len(m.placements))
	for i := range n.NumLayers() {
		m.forward(i)
		if plan := n.plan.Tasks[i]; plan.Arranged.Whole {
			m.checkPieces(i)
			continue
		}
		for _, b := range n.Bottoms(i) {
			m.read(n.LayerName(i)+" (while it writes)", b, false)
		}
	}
	for i := n.NumLayers() - 1; i >= 0 && backward; i-- {
		if !n.NeedsBackward(i) {
			continue
		}
		m.backward(i)
		for _, b := range n.Tops(i) {
			m.read(n.LayerName(i)+" (while it writes)", b, true)
		}
	}
	apart := 0
	for _, p := range m.placements {
		apart += cpe.WholeLines(p.Size)
	}
	t.Logf("%d blobs' values and gradients of %d values stand in %d, read %d times", len(m.placements), apart, plan.Total, m.reads)
	if m.reads == 0 || plan.Total > apart {
		t.Errorf("%d values are placed in %d", apart, plan.Total)
	}
}

// shapes lists the tops of data layers for nets that are not for ImageNet.
var shapes = map[string][]string{
	"lenet":                   {"dim: 64 dim: 1 dim: 28 dim: 28", "dim: 64"},
	"cifar10_quick":           {"dim: 100 dim: 3 dim: 32 dim: 32", "dim: 100"},
	"cifar10_full":            {"dim: 100 dim: 3 dim: 32 dim: 32", "dim: 100"},
	"cifar10_full_sigmoid":    {"dim: 111 dim: 3 dim: 32 dim: 32", "dim: 111"},
	"cifar10_full_sigmoid_bn": {"dim: 100 dim: 3 dim: 32 dim: 32", "dim: 100"},
	"cifar10_resnet8":         {"dim: 100 dim: 3 dim: 32 dim: 32", "dim: 100"},
	"cifar10_mobilenet_v2":    {"dim: 100 dim: 3 dim: 32 dim: 32", "dim: 100"},
	"cifar10_shufflenet":      {"dim: 100 dim: 3 dim: 32 dim: 32", "dim: 100"},
	"mnist_autoencoder":       {"dim: 100 dim: 1 dim: 28 dim: 28"},
	"mnist_siamese":           {"dim: 64 dim: 2 dim: 28 dim: 28", "dim: 64"},
	"char_rnn":                {"dim: 32 dim: 16", "dim: 32 dim: 16", "dim: 32 dim: 16"},
	"hdf5_classification":     {"dim: 10 dim: 4", "dim: 10"},
	"fcn":                     {"dim: 20 dim: 3 dim: 64 dim: 64"},
	"pspnet":                  {"dim: 20 dim: 3 dim: 64 dim: 64"},
	"mobilenet_ssd":           {"dim: 16 dim: 3 dim: 96 dim: 96", "dim: 1 dim: 1 dim: 1 dim: 8"},
	"faster_rcnn":             {"dim: 1 dim: 3 dim: 96 dim: 96", "dim: 1 dim: 1 dim: 1 dim: 8"},
}

// withoutFiles replaces data layers by DummyData.
func withoutFiles(t *testing.T, model string, p *caffepb.NetParameter) {
	for _, l := range p.Layer {
		if !slices.Contains([]string{"Data", "AnnotatedData", "HDF5Data"}, l.GetType()) || len(shapes[model]) == 0 {
			continue
		}
		dims := shapes[model]
		if l.GetName() == "label" {
			dims = []string{"dim: 20 dim: 1 dim: 64 dim: 64"}
		}
		text := "dummy_data_param { shape { " + strings.Join(dims, "} shape { ") + " } }"
		l.Type, l.DummyDataParam = proto.String("DummyData"), parse(t, "layer { "+text+" }").Layer[0].DummyDataParam
		l.TransformParam = nil
	}
}

// TestPlansOfTheZoo: no net of the zoo reads values that were overwritten, in training or in inference.
func TestPlansOfTheZoo(t *testing.T) {
	dirs, err := filepath.Glob("../models/*/train_val.prototxt")
	if err != nil || len(dirs) < 15 {
		t.Fatalf("models %v, error %v", dirs, err)
	}
	spec, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	m, err := cpe.New(spec, cpe.CostOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, path := range dirs {
		model := filepath.Base(filepath.Dir(path))
		for _, file := range []string{"train_val.prototxt", "deploy.prototxt"} {
			t.Run(model+"/"+file, func(t *testing.T) {
				read, err := swproto.ReadNet(filepath.Join(filepath.Dir(path), file))
				if err != nil {
					t.Fatal(err)
				}
				withoutFiles(t, model, read.Param)
				training := file != "deploy.prototxt"
				phase := caffepb.Phase_TEST
				if training {
					phase = caffepb.Phase_TRAIN
				}
				n, err := New(read.Param, Options{
					State:       MergeState(phase, &caffepb.NetState{Stage: []string{"synthetic"}}),
					Device:      &layers.Device{Engine: layers.MPE, Machine: m, Random: layers.NewRandom(1)},
					ForwardOnly: !training,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer n.Close()
				play(t, n, training)
			})
		}
	}
}

// residual has the difficult cases of plans: splits, in-place layers, values that Backward reads, and a blob without gradient.
const residual = `
	layer { name: "data" type: "DummyData" top: "x" top: "label" dummy_data_param {
		shape { dim: 4 dim: 3 dim: 12 dim: 12 } shape { dim: 4 }
		data_filler { type: "gaussian" } data_filler { type: "constant" value: 2 } } }
	layer { name: "conv" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 8 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
	layer { name: "bn" type: "BatchNorm" bottom: "a" top: "a" }
	layer { name: "scale" type: "Scale" bottom: "a" top: "a" scale_param { bias_term: true } }
	layer { name: "relu" type: "ReLU" bottom: "a" top: "a" }
	layer { name: "lrn" type: "LRN" bottom: "a" top: "n" lrn_param { alpha: 0.5 } }
	layer { name: "branch" type: "Convolution" bottom: "n" top: "b" convolution_param { num_output: 8 kernel_size: 1 weight_filler { type: "msra" } } }
	layer { name: "tanh" type: "TanH" bottom: "b" top: "c" }
	layer { name: "sum" type: "Eltwise" bottom: "n" bottom: "c" top: "s" }
	layer { name: "relu2" type: "ReLU" bottom: "s" top: "r" relu_param { negative_slope: 0.1 } }
	layer { name: "product" type: "Eltwise" bottom: "r" bottom: "c" top: "p" eltwise_param { operation: PROD } }
	layer { name: "pool" type: "Pooling" bottom: "p" top: "q" pooling_param { kernel_size: 3 stride: 2 } }
	layer { name: "drop" type: "Dropout" bottom: "q" top: "q" }
	layer { name: "join" type: "Concat" bottom: "q" bottom: "q" top: "j" }
	layer { name: "mean" type: "Pooling" bottom: "j" top: "m" pooling_param { pool: AVE global_pooling: true } }
	layer { name: "fc" type: "InnerProduct" bottom: "m" top: "fc" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
	layer { name: "accuracy" type: "Accuracy" bottom: "fc" bottom: "label" top: "accuracy" }
	layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }`

func buildWith(t *testing.T, text string, change func(*Options)) *Net {
	t.Helper()
	opt := Options{State: MergeState(caffepb.Phase_TRAIN), Device: device(t)}
	change(&opt)
	n, err := New(parse(t, text), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// near compares with a tolerance relative to 1 + |want|, since fused layers sum in another order.
func near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - float64(w)); !(d <= 2e-6*(1+math.Abs(float64(w)))) {
			t.Errorf("%s: value %d is %g, %g where blobs have storage of their own", what, i, got[i], w)
			return
		}
	}
}

// sameBits compares bit by bit, so that NaN counts. Zeros of either sign are equal, since the ReLU kernel chooses the sign.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && got[i] != want[i] {
			t.Fatalf("%s: value %d is %g, %g where blobs have storage of their own", what, i, got[i], want[i])
		}
	}
}

// nan marks values that nobody has written.
var nan = float32(math.NaN())

// TestEconomyChangesNothing: losses and gradients on both paths equal those of a net without shared storage, although everything that need
// not be kept is NaN before each run. On the MPE path, where nothing is fused, gradients have the same bits.
func TestEconomyChangesNothing(t *testing.T) {
	for _, engine := range []layers.Engine{layers.CPE, layers.MPE} {
		t.Run(engine.String(), func(t *testing.T) {
			plain := buildWith(t, residual, func(o *Options) { o.Device.Engine = engine })
			frugal := buildWith(t, residual, func(o *Options) { o.Device.Engine, o.Economise = engine, true })
			for range 3 {
				for i := range frugal.arena.memory {
					frugal.arena.memory[i] = nan
				}
				want, err := plain.ForwardBackward()
				if err != nil {
					t.Fatal(err)
				}
				loss, err := frugal.ForwardBackward()
				if err != nil || loss != want {
					t.Fatalf("loss %g, error %v; %g where blobs have storage of their own", loss, err, want)
				}
				for i, l := range plain.Learnable() {
					compare := near
					if engine == layers.MPE {
						compare = sameBits
					}
					compare(t, l.Layer, frugal.Learnable()[i].Blob.Diff(), l.Blob.Diff())
				}
				for i, o := range plain.Outputs() {
					sameBits(t, o.Name, frugal.Outputs()[i].Blob.Data(), o.Blob.Data())
				}
			}
		})
	}
}

// TestNamedBlobsKeepTheirValues: a blob requested by name has the values of a net that does not economise, from the time of the request on.
func TestNamedBlobsKeepTheirValues(t *testing.T) {
	plain := buildWith(t, residual, func(*Options) {})
	for _, name := range []string{"a", "n", "c", "s", "r", "q", "j", "fc"} {
		frugal := buildWith(t, residual, func(o *Options) { o.Economise = true })
		plain.opt.Device.Random, frugal.opt.Device.Random = layers.NewRandom(9), layers.NewRandom(9)
		b := frugal.Blob(name)
		b.Data()[1] = 7
		if frugal.Blob(name).Data()[1] != 7 {
			t.Errorf("blob %s has lost what was written into it", name)
		}
		if err := errors.Join(forwardBackward(plain), forwardBackward(frugal)); err != nil {
			t.Fatal(err)
		}
		sameBits(t, name, b.Data(), plain.Blob(name).Data())
		near(t, name+"'s gradient", b.Diff(), plain.Blob(name).Diff())
	}
}

// TestNamedBlobsKeepTheirGradients: a requested blob also keeps its gradient, that of its first writer's top, even if later in-place layers
// could be fused with that writer.
func TestNamedBlobsKeepTheirGradients(t *testing.T) {
	const norm = `
	layer { name: "bn" type: "BatchNorm" bottom: "b" top: "s" }
	layer { name: "scale" type: "Scale" bottom: "s" top: "s" scale_param { bias_term: true } }`
	conv := firstConv("num_output: 16 kernel_size: 5 pad: 2")
	for _, tt := range []struct{ name, text string }{
		{"pooling and ReLU", images + conv + poolA + reluS + classifier},
		{"ReLU, pooling and ReLU", images + conv + reluA + poolA + reluS + classifier},
		{"normalisation", trunk + pointwise("b", "") + norm + classifier},
		{"normalisation and ReLU", trunk + pointwise("b", "") + norm + rectified + classifier},
		{"all in place", trunk + pointwise("b", "") + normed + sum("b", "t") + rectified + classifier},
		{"a sum and ReLU", trunk + pointwise("b", "") + sum("t", "b") + rectified + classifier},
	} {
		plain := buildWith(t, tt.text, func(*Options) {})
		for name := range plain.ids {
			frugal := buildWith(t, tt.text, func(o *Options) { o.Economise = true })
			plain.opt.Device.Random, frugal.opt.Device.Random = layers.NewRandom(9), layers.NewRandom(9)
			b := frugal.Blob(name)
			if err := errors.Join(forwardBackward(plain), forwardBackward(frugal)); err != nil {
				t.Fatal(err)
			}
			near(t, tt.name+": "+name, b.Data(), plain.Blob(name).Data())
			near(t, tt.name+": gradient of "+name, b.Diff(), plain.Blob(name).Diff())
		}
	}
}

func forwardBackward(n *Net) error {
	_, err := n.ForwardBackward()
	return err
}

// TestGradientsOfParameterTopsOutlastBackward: the gradient of a weight that is also a top survives until the solver reads it, although
// earlier layers run backward later. d(2x)^2/dx = 8x and d(3y)^2/dy = 18y.
func TestGradientsOfParameterTopsOutlastBackward(t *testing.T) {
	const text = `
	layer { name: "x" type: "Parameter" top: "x" parameter_param { shape { dim: 2 } } }
	layer { name: "a" type: "Power" bottom: "x" top: "a" power_param { scale: 2 } }
	layer { name: "b" type: "Power" bottom: "a" top: "b" power_param { power: 2 } loss_weight: 1 }
	layer { name: "y" type: "Parameter" top: "y" parameter_param { shape { dim: 3 } } }
	layer { name: "c" type: "Power" bottom: "y" top: "c" power_param { scale: 3 } }
	layer { name: "d" type: "Power" bottom: "c" top: "d" power_param { power: 2 } loss_weight: 1 }`
	for _, engine := range []layers.Engine{layers.CPE, layers.MPE} {
		n := buildWith(t, text, func(o *Options) { o.Device.Engine, o.Economise = engine, true })
		values := [][]float32{{1, 2}, {3, 4, 5}}
		for i, l := range n.Learnable() {
			copy(l.Blob.Data(), values[i])
		}
		if err := forwardBackward(n); err != nil {
			t.Fatal(err)
		}
		for i, want := range [][]float32{{8, 16}, {54, 72, 90}} {
			near(t, n.Learnable()[i].Layer, n.Learnable()[i].Blob.Diff(), want)
		}
	}
}

// TestArenaIsShared: nets that use one arena in turn compute the same as alone, although the second needs a longer one.
func TestArenaIsShared(t *testing.T) {
	larger := strings.ReplaceAll(residual, "dim: 4", "dim: 16")
	arena := &Arena{}
	share := func(o *Options) { o.Economise, o.Arena = true, arena }
	shared := []*Net{buildWith(t, residual, share), buildWith(t, larger, share)}
	alone := []*Net{buildWith(t, residual, func(*Options) {}), buildWith(t, larger, func(*Options) {})}
	for range 2 {
		for i, n := range shared {
			loss, err := n.ForwardBackward()
			want, err2 := alone[i].ForwardBackward()
			if err := errors.Join(err, err2); err != nil || loss != want {
				t.Errorf("net %d: loss %g, error %v; alone %g", i, loss, err, want)
			}
		}
	}
}

// chain is a sequence of layers with blobs of two sizes.
const chain = `
		layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 800 } } }
		layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 160 } }
		layer { name: "b" type: "Sigmoid" bottom: "a" top: "b" }
		layer { name: "c" type: "AbsVal" bottom: "b" top: "c" }
		layer { name: "d" type: "InnerProduct" bottom: "c" top: "d" inner_product_param { num_output: 80 } }
		layer { name: "e" type: "Sigmoid" bottom: "d" top: "e" loss_weight: 1 }`

// TestInferenceKeepsTwoBlobs: a chain for Forward only needs room for two neighbouring blobs.
func TestInferenceKeepsTwoBlobs(t *testing.T) {
	n := buildWith(t, chain, func(o *Options) { o.Economise, o.ForwardOnly, o.Without = true, true, []string{"finish"} })
	if got, want := len(n.arena.memory), 2*2*160; got != want {
		t.Errorf("the arena has %d values, two blobs have %d", got, want)
	}
}

// TestWhatStandsInTheArena: after a run, values and gradients between layers are in the arena, and nothing else is: filling the arena with
// NaN shows which. A net that moves to a longer arena leaves nothing in the old one.
func TestWhatStandsInTheArena(t *testing.T) {
	for _, forwardOnly := range []bool{true, false} {
		n := buildWith(t, chain, func(o *Options) { o.Economise, o.ForwardOnly, o.Without = true, forwardOnly, []string{"finish"} })
		for range 2 {
			var err error
			if forwardOnly {
				_, err = n.Forward()
			} else {
				_, err = n.ForwardBackward()
			}
			if err != nil {
				t.Fatal(err)
			}
			vec.Fill(n.arena.memory, float32(math.NaN()))
			for id, name := range n.graph.Names {
				inside := strings.Contains("abcd", name)
				if v := n.graph.Blobs[id].Data()[0]; (v != v) != inside {
					t.Errorf("forward only %v: values of %q in the arena: %v", forwardOnly, name, v != v)
				}
				if v := n.graph.Blobs[id].Diff()[0]; !forwardOnly && (v != v) != (name != "x") {
					t.Errorf("gradient of %q in the arena: %v", name, v != v)
				}
			}
			for _, w := range n.Learnable() {
				if slices.ContainsFunc(slices.Concat(w.Blob.Data(), w.Blob.Diff()), func(v float32) bool { return v != v }) {
					t.Errorf("weights of %q are in the arena", w.Layer)
				}
			}
			n.arena.reserve(2 * len(n.arena.memory))
		}
	}
}

// TestKernelsWorkInTheArena: a convolution's scratch is in the arena. In a net that keeps all blobs the arena holds nothing else.
func TestKernelsWorkInTheArena(t *testing.T) {
	n := buildWith(t, `
		layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 16 dim: 9 dim: 9 } } }
		layer { name: "c" type: "Convolution" bottom: "x" top: "y" convolution_param { num_output: 16 kernel_size: 3 weight_filler { value: 1 } } }`,
		func(o *Options) { o.Economise, o.ForwardOnly = true, true })
	if len(n.arena.memory) == 0 || len(n.plan.Memory.Places) > 0 {
		t.Fatalf("an arena of %d values, %d of them blobs", len(n.arena.memory), len(n.plan.Memory.Places))
	}
	vec.Fill(n.arena.memory, float32(math.NaN()))
	n.Params("c")[0].Data() // who may write to weights makes kernels pack them in every run
	if _, err := n.Forward(); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(n.arena.memory, func(v float32) bool { return v == v }) {
		t.Error("nothing was written to the arena")
	}
}

// TestDoneComesWithTheGradients: done is called from the last layer to the first, when the layer's gradients have their final values; this
// includes fused layers.
func TestDoneComesWithTheGradients(t *testing.T) {
	n := buildWith(t, residual, func(o *Options) { o.Economise = true })
	if _, err := n.Forward(); err != nil {
		t.Fatal(err)
	}
	next := n.NumLayers() - 1
	seen := map[*blob.Blob][]float32{}
	err := n.Backward(func(layer int) {
		if layer != next {
			t.Errorf("layer %d is reported, expected %d", layer, next)
		}
		next--
		for _, w := range n.Layer(layer).Params() {
			seen[w] = append([]float32(nil), w.Diff()...)
		}
	})
	if err != nil || next != -1 {
		t.Fatalf("error %v, layers from %d down are not reported", err, next)
	}
	for i := range n.NumLayers() {
		for _, w := range n.Layer(i).Params() {
			sameBits(t, n.LayerName(i), seen[w], w.Diff())
		}
	}
}
