package models_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"google.golang.org/protobuf/proto"
)

// thin is by what the number of maps and units of a net for ImageNet is divided, so that the reference path runs through all of
// its layers in a moment.
const thin = 16

// TestTwoIterations tests every net, on the CPE path, and runs two iterations of its solver on both, in the smallest batches: losses are
// finite, and those of both engines are the same. Nets for ImageNet are thinned out, and VGG's,
// whose reference path takes the longest, see small images.
func TestTwoIterations(t *testing.T) {
	for _, path := range solvers(t) {
		t.Run(strings.TrimPrefix(path, "models/"), func(t *testing.T) {
			if testing.Short() && forImageNet(readNet(t, filepath.Base(filepath.Dir(path)), trainVal)) {
				t.Skip("a big net")
			}
			t.Parallel() // the reference path runs on one core
			var loss [2]float64
			for i, engine := range []layers.Engine{layers.CPE, layers.MPE} {
				loss[i] = train(t, path, engine, thin)
			}
			if math.Abs(loss[0]-loss[1]) > 2e-3*math.Abs(loss[1]) {
				t.Errorf("loss %g on the CPE path, %g on the MPE path", loss[0], loss[1])
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
			train(t, "models/"+model+"/solver.prototxt", layers.CPE, 1)
		})
	}
}

// train does two iterations of a solver and returns the loss of a third forward pass.
func train(t *testing.T, path string, engine layers.Engine, divisor uint32) float64 {
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
	v, err := solver.New(file, solver.Options{Engine: engine, Machine: host(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := v.Step(2); err != nil {
		t.Fatal(err)
	}
	loss, err := v.Net().Forward()
	if err != nil {
		t.Fatal(err)
	}
	if where := v.Net().FirstNonFinite(); where != "" || math.IsNaN(loss) {
		t.Fatalf("engine %v: loss %g; %s", engine, loss, where)
	}
	return loss
}

func host(t testing.TB) *cpe.Machine {
	t.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
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
