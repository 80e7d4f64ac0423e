package models_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"google.golang.org/protobuf/proto"
)

// thin divides the number of maps and units of a net for ImageNet, so that the reference path takes only a moment.
const thin = 16

// TestTwoIterations tests every net on the CPE path and runs two iterations of its solver on both paths, in the smallest batches.
// Losses are finite and the same on both paths. With another number of core groups, the CPE path gives the same bits in all
// weights. Nets for ImageNet are thinned out, and VGG's, whose reference path is the slowest, get small images.
func TestTwoIterations(t *testing.T) {
	for _, path := range solvers(t) {
		t.Run(strings.TrimPrefix(path, "models/"), func(t *testing.T) {
			if testing.Short() && forImageNet(readNet(t, filepath.Base(filepath.Dir(path)), trainVal)) {
				t.Skip("a big net")
			}
			t.Parallel() // the reference path runs on one core
			loss, bits := train(t, path, layers.CPE, host(t, 1), thin)
			if _, others := train(t, path, layers.CPE, host(t, 3), thin); others != bits {
				t.Error("three core groups leave other weights than one")
			}
			if want, _ := train(t, path, layers.MPE, host(t, 1), thin); math.Abs(loss-want) > 2e-3*math.Abs(want) {
				t.Errorf("loss %g on the CPE path, %g on the MPE path", loss, want)
			}
		})
	}
}

// many weights, with their gradients and momentum, take long to fill.
const many = 20_000_000

// TestFullWidth runs the nets for ImageNet as they are on the CPE path, unless they have too many weights.
func TestFullWidth(t *testing.T) {
	if testing.Short() {
		t.Skip("big nets")
	}
	for _, model := range names(t) {
		if !forImageNet(readNet(t, model, trainVal)) || measure(t, model, deploy, caffepb.Phase_TEST).Parameters > many {
			continue
		}
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			train(t, "models/"+model+"/solver.prototxt", layers.CPE, host(t, runtime.GOMAXPROCS(0)), 1)
		})
	}
}

// train does two iterations of a solver and returns the loss of a third forward pass, and what tells the bits of all weights, running
// sums included, from others.
func train(t *testing.T, path string, engine layers.Engine, m *cpe.Machine, divisor uint32) (loss float64, weights uint64) {
	t.Helper()
	file, err := swproto.ReadSolver(path)
	if err != nil {
		t.Fatal(err)
	}
	net, err := swproto.ReadNet(file.Param.GetNet())
	if err != nil {
		t.Fatal(err)
	}
	p := file.Param
	if forImageNet(net) {
		if thinOut(net.Param, divisor); divisor > 1 && strings.HasPrefix(path, "models/vgg") {
			smallImages(net.Param, 64)
		}
		p.TrainState = &caffepb.NetState{Stage: []string{synthetic}}
		p.TestState = []*caffepb.NetState{p.TrainState}
	}
	smallBatches(net.Param)
	p.Net, p.NetParam = nil, net.Param
	p.Snapshot, p.SnapshotAfterTrain = proto.Int32(0), proto.Bool(false)
	// One test, before the first iteration, and on the fast path.
	p.TestInterval, p.TestInitialization = proto.Int32(100), proto.Bool(engine == layers.CPE)
	p.IterSize = proto.Int32(1)
	for i := range p.TestIter {
		p.TestIter[i] = 1
	}
	p.RandomSeed = proto.Int64(1)
	v, err := solver.New(file, solver.Options{Engine: engine, Machine: m})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := v.Step(2); err != nil {
		t.Fatal(err)
	}
	loss, err = v.Net().Forward()
	if err != nil {
		t.Fatal(err)
	}
	if where := v.Net().FirstNonFinite(); where != "" || math.IsNaN(loss) {
		t.Fatalf("engine %v: loss %g; %s", engine, loss, where)
	}
	sum := fnv.New64a()
	for i := range v.Net().NumLayers() {
		for _, w := range v.Net().Layer(i).Params() {
			if err := binary.Write(sum, binary.LittleEndian, w.Data()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return loss, sum.Sum64()
}

// host is this computer with a number of core groups.
func host(t testing.TB, groups int) *cpe.Machine {
	t.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups = groups
	m, err := cpe.New(spec, cpe.Native)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// smallBatches makes batches of an image, eight points or three steps of text.
func smallBatches(p *caffepb.NetParameter) {
	for _, l := range p.Layer {
		if d := l.DataParam; d != nil {
			d.BatchSize = proto.Uint32(1)
		}
		if d := l.Hdf5DataParam; d != nil {
			d.BatchSize = proto.Uint32(8)
			if l.Top[0] == "input" {
				l.Hdf5DataParam.BatchSize = proto.Uint32(3)
			}
		}
		for _, s := range l.GetDummyDataParam().GetShape() {
			s.Dim[0] = 1
		}
	}
}

// smallImages makes synthetic images smaller, for nets that take any size.
func smallImages(p *caffepb.NetParameter, side int64) {
	for _, l := range p.Layer {
		if d := l.GetDummyDataParam(); d != nil {
			d.Shape[0].Dim[2], d.Shape[0].Dim[3] = side, side
		}
	}
}

// thinOut divides the numbers of maps and units, which all nets for ImageNet have as multiples of 16 or 1000.
func thinOut(p *caffepb.NetParameter, divisor uint32) {
	for _, l := range p.Layer {
		if c := l.ConvolutionParam; c != nil {
			c.NumOutput = proto.Uint32(c.GetNumOutput() / divisor)
		}
		if c := l.InnerProductParam; c != nil {
			c.NumOutput = proto.Uint32(c.GetNumOutput() / divisor)
		}
	}
}
