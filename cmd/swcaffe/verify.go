package main

import (
	"errors"
	"flag"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver"
)

var verifyCommand = command{
	name:    "verify",
	summary: "compare the CPE path with the MPE path, layer by layer, on a net of your own",
	args:    "-model FILE [-weights FILES] [-machine NAME|FILE]",
	example: "swcaffe verify -model models/lenet/train_val.prototxt -machine sw26010",
	long: `Builds the net twice with the same seed, once on each path. Every layer of the CPE net is run on the inputs that the MPE
net gave it, so that differences do not pile up; the worst difference of its outputs, of its inputs' gradients and of
its weights' gradients is printed, relative to the largest value of the blob. Fails above -tolerance.`,
	setup: func(fs *flag.FlagSet) func(*env) error {
		var o verifyOptions
		fs.StringVar(&o.model, "model", "", "the net definition `FILE` (prototxt)")
		fs.StringVar(&o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas")
		fs.StringVar(&o.phase, "phase", "TRAIN", "TRAIN or TEST")
		fs.Float64Var(&o.tolerance, "tolerance", 1e-4, "the largest difference allowed, relative to a blob's largest value")
		o.device.register(fs)
		o.state.register(fs)
		return func(e *env) error { return verify(e, &o) }
	},
}

type verifyOptions struct {
	model, weights, phase string
	tolerance             float64
	device                deviceFlags
	state                 stateFlags
}

func verify(e *env, o *verifyOptions) error {
	if o.model == "" {
		return errors.New("need a model definition to verify: -model FILE")
	}
	if !(o.tolerance > 0) {
		return fmt.Errorf("-tolerance %g: a positive number is needed", o.tolerance)
	}
	phase, err := parsePhase(o.phase)
	if err != nil {
		return err
	}
	machine, err := o.device.machine(e)
	if err != nil {
		return err
	}
	defer machine.Close()
	seed := o.device.seedOrTime()
	e.log.Infof("Random seed: %d", seed)
	var nets [2]*swnet.Net
	for i, engine := range []layers.Engine{layers.MPE, layers.CPE} {
		device := &layers.Device{Engine: engine, Machine: machine, Random: layers.NewRandom(seed), Log: e.log}
		if nets[i], err = loadNet(e, o.model, phase, &o.state, device); err != nil {
			return err
		}
		defer nets[i].Close()
		if o.weights != "" {
			if err := solver.LoadWeights(nets[i], o.weights, e.log); err != nil {
				return err
			}
		}
	}
	rows, err := compareNets(nets[0], nets[1])
	if err != nil {
		return err
	}
	return printVerify(e, rows, o)
}

// verifyRow is the worst relative difference of one layer; negative where there is nothing to compare.
type verifyRow struct {
	name, kind                string
	forward, backward, weight float64
}

// compareNets runs both nets layer by layer; before each layer of b its inputs become those of a.
func compareNets(a, b *swnet.Net) ([]verifyRow, error) {
	rows := make([]verifyRow, a.NumLayers())
	a.ClearParamDiffs()
	b.ClearParamDiffs()
	for i := range rows {
		rows[i] = verifyRow{name: a.LayerName(i), kind: a.LayerType(i), forward: -1, backward: -1, weight: -1}
		if _, err := a.ForwardLayer(i); err != nil {
			return nil, err
		}
		if _, err := b.ForwardLayer(i); err != nil {
			return nil, err
		}
		for k, top := range a.Tops(i) {
			rows[i].forward = max(rows[i].forward, difference(top.Data(), b.Tops(i)[k].Data()))
			copy(b.Tops(i)[k].Data(), top.Data())
		}
	}
	for i := len(rows) - 1; i >= 0; i-- {
		if !a.NeedsBackward(i) {
			continue
		}
		if err := a.BackwardLayer(i); err != nil {
			return nil, err
		}
		if err := b.BackwardLayer(i); err != nil {
			return nil, err
		}
		for j, bottom := range a.Bottoms(i) {
			if a.Propagates(i, j) {
				rows[i].backward = max(rows[i].backward, difference(bottom.Diff(), b.Bottoms(i)[j].Diff()))
				copy(b.Bottoms(i)[j].Diff(), bottom.Diff())
			}
		}
		rows[i].weight = compareWeights(a.Layer(i).Params(), b.Layer(i).Params())
	}
	return rows, nil
}

func compareWeights(a, b []*blob.Blob) float64 {
	worst := -1.0
	for k := range a {
		worst = max(worst, difference(a[k].Diff(), b[k].Diff()))
	}
	return worst
}

// difference is max|a-b| / max|a|, or max|a-b| where a is zero; a value that is no number on one side only is infinite.
func difference(a, b []float32) float64 {
	var worst, largest float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		if math.IsNaN(x) != math.IsNaN(y) {
			return math.Inf(1)
		}
		if x == y || math.IsNaN(x) {
			largest = max(largest, math.Abs(x))
			continue
		}
		worst, largest = max(worst, math.Abs(x-y)), max(largest, math.Abs(x))
	}
	if largest == 0 || math.IsNaN(largest) {
		return worst
	}
	return worst / largest
}

func printVerify(e *env, rows []verifyRow, o *verifyOptions) error {
	cell := func(v float64) string {
		if v < 0 {
			return "-"
		}
		return fmt.Sprintf("%.2e", v)
	}
	fmt.Fprintf(e.stdout, "%-40s %-20s %10s %10s %10s\n", "layer", "type", "forward", "backward", "weights")
	failed := 0
	for _, r := range rows {
		mark := ""
		if max(r.forward, r.backward, r.weight) > o.tolerance {
			mark = "  ABOVE TOLERANCE"
			failed++
		}
		fmt.Fprintf(e.stdout, "%-40s %-20s %10s %10s %10s%s\n", r.name, r.kind, cell(r.forward), cell(r.backward), cell(r.weight), mark)
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d layers differ by more than %g between the MPE path and the CPE path on machine %s",
			o.model, failed, len(rows), o.tolerance, o.device.machineName)
	}
	fmt.Fprintf(e.stdout, "all %d layers agree within %g on machine %s\n", len(rows), o.tolerance, o.device.machineName)
	return nil
}
