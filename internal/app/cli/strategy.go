package cli

import (
	"flag"
	"fmt"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/tune"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// AutoStrategy is the value of -strategy that leaves the choice of algorithms free.
const AutoStrategy = "auto"

// StrategyFlags are the flags that choose the algorithms of convolutions.
type StrategyFlags struct {
	Strategy string // -strategy
	tune     string
}

// Register registers -strategy, and with tunes also -tune, the tuning file.
func (f *StrategyFlags) Register(fs *flag.FlagSet, tunes bool) {
	StringVar(fs, &f.Strategy, "strategy", AutoStrategy, "what to convolve with where possible: `NAME` of a family of algorithms (auto, explicit, implicit, winograd, winograd2, winograd4, winograd5) or of one algorithm, as time -explain lists them", OneOf(plan.ForceNames()...))
	if !tunes {
		return
	}
	StringVar(fs, &f.tune, "tune", "", "take convolutions' algorithms from `FILE`; measure those that it does not have, and add them", AnyFile)
}

// Read returns what convolutions are to be computed with, and the tuner of a tuning file, nil if there is none.
func (f *StrategyFlags) Read(e *Env, engine layers.Engine, spec cpe.Spec) (op.Force, conv.Tuner, error) {
	force, err := plan.ParseForce(f.Strategy)
	switch {
	case err != nil:
		return force, nil, Usagef("-strategy: %w", err)
	case f.tune == "":
		return force, nil, nil
	case force != op.Force{}:
		return force, nil, Usagef("-strategy %v and -tune %s: the tuning file chooses the algorithms; leave one of the two flags out", force, f.tune)
	case f.tune == StandardStream:
		return force, nil, Usagef("-tune -: the tuning file is both read and written, so it cannot be a standard stream")
	case engine == layers.MPE:
		return force, nil, Usagef("-tune is for -engine cpe: the mpe engine has one way to convolve")
	}
	t, err := tune.Open(f.tune, spec, e.Log)
	if err != nil {
		return force, nil, FlagError("tune", err)
	}
	return force, t, nil
}

// Check refuses a net of which no convolution can be computed with the algorithm that -strategy names. It warns of layers that cannot use it.
func (f *StrategyFlags) Check(log *logrus.Logger, n *swnet.Net) error {
	others, err := n.CheckForced()
	if err != nil {
		return fmt.Errorf("-strategy: %w", err)
	}
	for _, line := range others {
		log.Warnf("-strategy %s is not possible everywhere; another algorithm takes its place in %s", f.Strategy, line)
	}
	return nil
}

// ByDirection are the algorithms of a convolution layer, or their families, by direction; "" where it does not compute one.
type ByDirection struct {
	Forward        string `json:"forward"`
	WeightGradient string `json:"weight_gradient,omitempty"`
	InputGradient  string `json:"input_gradient,omitempty"`
}

// convolution returns layer i, whose strategies and algorithms are of interest, if it is a convolution.
func convolution(n *swnet.Net, engine layers.Engine, i int) (layers.Strategist, bool) {
	l, ok := n.Layer(i).(layers.Strategist)
	return l, ok && engine != layers.MPE
}

// StrategiesOf returns the families of a convolution layer's algorithms, nil if layer i is none.
func StrategiesOf(n *swnet.Net, engine layers.Engine, i int) *ByDirection {
	l, ok := convolution(n, engine, i)
	if !ok {
		return nil
	}
	return byDirection(n, i, func(d shape.Direction) string { return l.Strategy(d).String() })
}

// AlgorithmsOf returns the algorithms of a convolution layer, nil if layer i is none.
func AlgorithmsOf(n *swnet.Net, engine layers.Engine, i int) *ByDirection {
	if _, ok := convolution(n, engine, i); !ok {
		return nil
	}
	return byDirection(n, i, func(d shape.Direction) string { return string(n.Algorithm(i, d)) })
}

// byDirection asks for the names of the directions that layer i computes.
func byDirection(n *swnet.Net, i int, name func(shape.Direction) string) *ByDirection {
	s := &ByDirection{Forward: name(shape.Forward)}
	if n.ComputesGradients(i, swnet.WeightGradients) {
		s.WeightGradient = name(shape.WeightGradient)
	}
	if n.ComputesGradients(i, swnet.InputGradients) {
		s.InputGradient = name(shape.InputGradient)
	}
	return s
}

// String lists the directions with their names.
func (s *ByDirection) String() string {
	var parts []string
	if s.Forward != "" {
		parts = append(parts, "forward "+s.Forward)
	}
	if s.WeightGradient != "" {
		parts = append(parts, "weight gradient "+s.WeightGradient)
	}
	if s.InputGradient != "" {
		parts = append(parts, "input gradient "+s.InputGradient)
	}
	return strings.Join(parts, ", ")
}

// Log prints a line for each convolution layer of a net, and warns of those that cannot use the family that -strategy asks for.
func (f *StrategyFlags) Log(log *logrus.Logger, n *swnet.Net, engine layers.Engine) {
	asked, err := plan.ParseForce(f.Strategy)
	if err != nil {
		asked = op.Force{} // Read has refused it
	}
	found := false
	for i := range n.NumLayers() {
		names := AlgorithmsOf(n, engine, i)
		if names == nil {
			continue
		}
		found = true
		log.Infof("Algorithms of %s: %v", n.LayerName(i), names)
		if others := names.outside(StrategiesOf(n, engine, i), asked.Family); others != nil {
			log.Warnf("-strategy %v cannot compute all of layer %s; in its place: %v", asked, n.LayerName(i), others)
		}
	}
	if asked != (op.Force{}) && !found {
		log.Warnf("-strategy %v has no effect: no layer of the net chooses between algorithms on engine %v", asked, engine)
	}
}

// outside returns the algorithms of the directions whose strategies are not those of the family that is asked for, nil if all are.
func (s *ByDirection) outside(strategies *ByDirection, asked shape.Strategy) *ByDirection {
	other := func(algorithm, used string) string {
		if used == asked.String() || asked == shape.Winograd && strings.HasPrefix(used, asked.String()) {
			return ""
		}
		return algorithm
	}
	others := ByDirection{
		other(s.Forward, strategies.Forward), other(s.WeightGradient, strategies.WeightGradient), other(s.InputGradient, strategies.InputGradient),
	}
	if asked == shape.Auto || others == (ByDirection{}) {
		return nil
	}
	return &others
}
