package model

import (
	"errors"
	"flag"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/solver/events"
)

// Verify is the command verify.
var Verify = cli.Command{
	Name:     "verify",
	Synopsis: "compare the CPE path with the MPE path, layer by layer, on a net of your own",
	Args:     "-model FILE [-weights FILES] [-strategy NAME] [-machine NAME|FILE] [-json FILE]",
	Example:  "swcaffe verify -model models/lenet/train_val.prototxt -machine sw26010",
	Help: `Builds the net twice with the same seed, once on each path. Every layer of the CPE net is run on the inputs that the MPE
net gave it, so that differences do not pile up; the worst difference of its outputs, of its inputs' gradients and of
its weights' gradients is printed, relative to the largest value of the blob. Fails above -tolerance. Where the CPE path
rounds factors to bfloat16 (-precision bf16), the MPE path gets rounded ones. Inputs are random; a net without a loss gets
one, so that deploy.prototxts can be verified in both directions.`,
	Do: cli.With(verifyFlags, verify),
}

func verifyFlags(fs *flag.FlagSet, o *verifyOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.StringVar(fs, &o.phase, "phase", "TRAIN", "TRAIN or TEST", cli.OneOf("TRAIN", "TEST"))
	fs.IntVar(&o.batch, "batch", 0, "the batch size of Input layers (0: as the model says)")
	fs.Float64Var(&o.tolerance, "tolerance", 1e-4, "the largest difference allowed, relative to a blob's largest value")
	cli.OutputVar(fs, &o.json, "json", "write the differences to `FILE` as well (docs/json.md); -: to standard output, alone")
	o.strategies.Register(fs, false)
	o.device.Register(fs)
	o.state.Register(fs)
}

type verifyOptions struct {
	model, weights, phase, json string
	batch                       int
	tolerance                   float64
	device                      cli.DeviceFlags
	state                       cli.StateFlags
	strategies                  cli.StrategyFlags
}

func verify(e *cli.Env, o *verifyOptions) error {
	if o.model == "" {
		return cli.Usagef("need a model definition to verify: -model FILE")
	}
	if !(o.tolerance > 0) {
		return cli.Usagef("-tolerance %g: a positive number is needed", o.tolerance)
	}
	phase, err := cli.ParsePhase(o.phase)
	if err != nil {
		return err
	}
	machine, err := o.device.NewMachine(e)
	if err != nil {
		return err
	}
	defer machine.Close()
	force, _, err := o.strategies.Read(e, o.device.Engine, machine.Spec())
	if err != nil {
		return err
	}
	seed := o.device.SeedOrTime()
	e.Log.Infof("Random seed: %d", seed)
	device := func(engine layers.Engine) *layers.Device {
		return &layers.Device{Engine: engine, Machine: machine, Random: layers.NewRandom(seed), Log: e.Log, Force: force}
	}
	file, losses, err := readForVerify(e, o, phase, device(layers.CPE))
	if err != nil {
		return err
	}
	var nets [2]*swnet.Net
	for i, engine := range []layers.Engine{layers.MPE, layers.CPE} {
		if nets[i], err = cli.BuildNet(file, phase, &o.state, swnet.Options{Device: device(engine)}); err != nil {
			return err
		}
		defer nets[i].Close()
		if err := o.strategies.Check(e.Log, nets[i]); err != nil {
			return err
		}
		fillInputs(nets[i], seed)
		if o.weights != "" {
			if _, err := solver.LoadTrained(nets[i], o.weights, e.Log); err != nil {
				return err
			}
		}
		fillBlankWeights(nets[i], seed)
	}
	rows, err := compareNets(nets[0], nets[1], losses, layers.NewRandom(seed+2))
	if err != nil {
		return err
	}
	return errors.Join(printVerify(e, rows, o), e.WriteJSON(o.json, o.report(rows)))
}

// verifyReport is the file of -json.
type verifyReport struct {
	OK        bool           `json:"ok"`
	Machine   string         `json:"machine"`
	Tolerance float64        `json:"tolerance"`
	Layers    []verifiedJSON `json:"layers"`
}

// verifiedJSON is the report of a layer. A difference is absent if there is nothing to compare.
type verifiedJSON struct {
	Name     string         `json:"name"`
	Type     string         `json:"type"`
	OK       bool           `json:"ok"`
	Overflow bool           `json:"overflow"`
	Forward  *events.Number `json:"forward,omitempty"`
	Backward *events.Number `json:"backward,omitempty"`
	Weights  *events.Number `json:"weights,omitempty"`
}

func (o *verifyOptions) report(rows []verifyRow) verifyReport {
	r := verifyReport{OK: true, Machine: o.device.MachineName, Tolerance: o.tolerance, Layers: []verifiedJSON{}}
	figure := func(v float64) *events.Number {
		n := events.Number(v)
		if v < 0 {
			return nil
		}
		return &n
	}
	for _, row := range rows {
		l := verifiedJSON{row.name, row.kind, row.within(o.tolerance), row.overflow, figure(row.forward), figure(row.backward), figure(row.weight)}
		r.OK = r.OK && l.OK
		r.Layers = append(r.Layers, l)
	}
	return r
}

// within reports whether no difference is above a tolerance, as far as the layer can be compared.
func (r verifyRow) within(tolerance float64) bool {
	return r.overflow || r.forward <= tolerance && r.backward <= tolerance && r.weight <= tolerance
}

// verifyRow is the largest relative difference in one layer; negative if there is nothing to compare.
type verifyRow struct {
	name, kind                string
	forward, backward, weight float64
	rounds                    rounding
	overflow                  bool // the layer reads a value above mostValue
}

// mostValue is the largest absolute value that layers are compared for. Sums of products of larger ones may exceed float32. Whether they do
// depends on the order of summation and on the precision of partial sums, which differ between the paths.
const mostValue = 1e12

// overflows reports whether an array has a value above mostValue, or one that is not a number.
func overflows(data []float32) bool {
	return slices.ContainsFunc(data, func(v float32) bool { return !(math.Abs(float64(v)) <= mostValue) })
}

// readsOverflow reports whether a layer's Forward reads such values.
func readsOverflow(n *swnet.Net, i int) bool {
	has := func(b *blob.Blob) bool { return overflows(b.Data()) }
	return slices.ContainsFunc(n.Bottoms(i), has) || slices.ContainsFunc(n.Layer(i).Params(), has)
}

// compareNets runs both nets layer by layer. Before each layer of b, it copies the inputs of a's layer to b's. The factors of losses are drawn
// right before the loss, when the number of values is known.
func compareNets(a, b *swnet.Net, losses []string, random *layers.Random) ([]verifyRow, error) {
	rows := make([]verifyRow, a.NumLayers())
	a.ClearParamDiffs()
	b.ClearParamDiffs()
	for i := range rows {
		rows[i] = verifyRow{name: a.LayerName(i), kind: a.LayerType(i), forward: -1, backward: -1, weight: -1}
		if slices.Contains(losses, a.LayerName(i)) {
			drawFactors(a.Bottoms(i), b.Bottoms(i), random)
		}
		rows[i].rounds = roundingOf(b, i)
		rows[i].overflow = readsOverflow(a, i)
		if err := rows[i].rounds.forward(a, i); err != nil {
			return nil, err
		}
		if _, err := b.ForwardLayer(i); err != nil {
			return nil, err
		}
		for k, top := range a.Tops(i) {
			rows[i].forward = max(rows[i].forward, takeOver(b.Tops(i)[k], top))
		}
	}
	for i := len(rows) - 1; i >= 0; i-- {
		if !a.NeedsBackward(i) {
			continue
		}
		term := largestGradient(a.Tops(i))
		rows[i].overflow = rows[i].overflow || slices.ContainsFunc(a.Tops(i), func(b *blob.Blob) bool { return overflows(b.Diff()) })
		if err := rows[i].rounds.backward(a, i); err != nil {
			return nil, err
		}
		if err := b.BackwardLayer(i); err != nil {
			return nil, err
		}
		least := 0.0
		if kind, err := layers.Find(rows[i].kind); err == nil && kind.Cancels {
			least = term / 100
		}
		for j, bottom := range a.Bottoms(i) {
			if a.Propagates(i, j) {
				rows[i].backward = max(rows[i].backward, relativeDifference(bottom.Diff(), b.Bottoms(i)[j].Diff(), least))
				copy(b.Bottoms(i)[j].Diff(), bottom.Diff())
			}
		}
		rows[i].weight = compareWeights(a.Layer(i).Params(), b.Layer(i).Params(), term)
	}
	return rows, nil
}

// takeOver copies a's values to b, which gets a's shape, and returns their difference before. It is infinite if the shapes differ, as when
// one path proposes another number of regions.
func takeOver(b, a *blob.Blob) float64 {
	worst := math.Inf(1)
	if slices.Equal(a.Shape(), b.Shape()) {
		worst = difference(a.Data(), b.Data())
	} else {
		b.Reshape(a.Shape()...)
	}
	copy(b.Data(), a.Data())
	return worst
}

// compareWeights returns the worst difference of weights' gradients. term is the largest gradient of the layer's tops: a bias or a scale has the
// sum of such terms. In front of a batch normalisation they cancel out, so that the sum is rounding alone, and differences are relative to a term.
func compareWeights(a, b []*blob.Blob, term float64) float64 {
	worst := -1.0
	for k := range a {
		least := 0.0
		if axes := a[k].NumAxes(); axes == 1 || axes == 4 && a[k].Count() == a[k].Dim(1) { // SegNet's BN has weights of 1 x C x 1 x 1
			least = term
		}
		worst = max(worst, relativeDifference(a[k].Diff(), b[k].Diff(), least))
	}
	return worst
}

// largestGradient returns the largest absolute value of blobs' gradients.
func largestGradient(blobs []*blob.Blob) (largest float64) {
	for _, b := range blobs {
		for _, v := range b.Diff() {
			largest = max(largest, math.Abs(float64(v)))
		}
	}
	return largest
}
