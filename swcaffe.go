package swcaffe

import (
	"errors"
	"io"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
)

// The phases that a net can be opened for.
const (
	Train = caffepb.Phase_TRAIN
	Test  = caffepb.Phase_TEST
)

// NewDevice returns a device that computes on all cores of this computer, on the CPE path, and draws its random numbers
// from seed. It logs nothing until its Log is given another output. Close its Machine when all that uses it is closed.
func NewDevice(seed uint64) (*layers.Device, error) { return NewDeviceOn(0, seed) }

// NewDeviceOn is NewDevice for a number of this computer's cores; 0: all. Two devices with a share of the cores each run two nets at the same time without
// taking each other's cores. Results do not depend on the number.
func NewDeviceOn(cores int, seed uint64) (*layers.Device, error) {
	m, err := cpe.NewHost(cores)
	if err != nil {
		return nil, err
	}
	log := logrus.New()
	log.SetOutput(io.Discard)
	return &layers.Device{Machine: m, Random: layers.NewRandom(seed), Log: log}, nil
}

// OpenNet builds the net of a prototxt, of any of Caffe's forms, for a phase. Weights, if any, are copied from .caffemodel or
// HDF5 files, into the layers of the same names; later files win. The net has its file's stages and level 0 (docs/solver.md). Errors name the
// file, its line and the layer. All blobs keep what Forward and Backward leave in them; OpenInference's Forward takes less time.
func OpenNet(d *layers.Device, prototxt string, phase caffepb.Phase, weights ...string) (*swnet.Net, error) {
	return openNet(prototxt, phase, swnet.Options{Device: d}, weights)
}

// OpenInference is OpenNet for Forward alone, in phase Test, in less time and memory: layers are computed together, and blobs share
// storage. After Forward only the net's inputs and outputs hold values, and blobs that Net.Blob was asked for before it. Long weights are read from their file when
// they are needed, in the first Forward at the latest: until then the file may be replaced, but not written to.
func OpenInference(d *layers.Device, prototxt string, weights ...string) (*swnet.Net, error) {
	return openNet(prototxt, Test, swnet.Options{Device: d, Economise: true, ForwardOnly: true}, weights)
}

// openNet builds a net with options that need no state and pos, and reads its weights.
func openNet(prototxt string, phase caffepb.Phase, opt swnet.Options, weights []string) (*swnet.Net, error) {
	file, err := swproto.ReadNet(prototxt)
	if err != nil {
		return nil, err
	}
	log := opt.Device.Log
	for _, w := range file.Warnings {
		log.Warn(w)
	}
	var asked swnet.Asked
	if w := asked.Replaces(prototxt+": state", file.Param.State); w != "" {
		log.Warn(w)
	}
	opt.State, opt.Pos = asked.Over(phase, file.Param.State), file.LayerPos
	n, err := swnet.New(file.Param, opt)
	if err != nil {
		return nil, err
	}
	for _, list := range weights {
		if err := solver.LoadWeights(n, list, log); err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	return n, nil
}

// OpenSolver makes the solver of a prototxt, with its nets, on the device's machine and path, convolving as the device says. Where the
// prototxt has no random_seed one is drawn from the device. Call Step or Solve, and Close.
func OpenSolver(d *layers.Device, prototxt string) (*solver.Solver, error) {
	file, err := solver.Read(prototxt, solver.Start{})
	if err != nil {
		return nil, err
	}
	for _, w := range file.Warnings {
		d.Log.Warn(w)
	}
	return solver.New(file, solver.Options{
		Engine: d.Engine, Machine: d.Machine, Log: d.Log, Seed: d.Random.Uint64(), Force: d.Force, Tuner: d.Tuner,
	})
}
