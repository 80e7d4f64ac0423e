package cli

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/tune"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// StrategyFlags are the flags that choose the algorithms of convolutions.
type StrategyFlags struct{ name, strategy, tune string }

// Register registers the flag of that name, and with tunes also -tune, the tuning file.
func (f *StrategyFlags) Register(fs *flag.FlagSet, name string, tunes bool) {
	f.name = "-" + name
	fs.StringVar(&f.strategy, name, "auto", "how to convolve where possible: auto, explicit, implicit, winograd, winograd2, winograd4 or winograd5")
	if !tunes {
		return
	}
	fs.StringVar(&f.tune, "tune", "", "take convolutions' strategies from `FILE`; measure those that it does not have, and add them")
}

// Read returns the strategy, and the tuner of a tuning file, nil if there is none.
func (f *StrategyFlags) Read(e *Env, engine layers.Engine, spec cpe.Spec) (shape.Strategy, conv.Tuner, error) {
	strategy, err := shape.ParseStrategy(f.strategy)
	switch {
	case err != nil:
		return strategy, nil, fmt.Errorf("%s: %w", f.name, err)
	case f.tune == "":
		return strategy, nil, nil
	case strategy != shape.Auto:
		return strategy, nil, fmt.Errorf("%s %v and -tune %s: the tuning file chooses the strategies; leave one of the two flags out", f.name, strategy, f.tune)
	case f.tune == StandardStream:
		return strategy, nil, errors.New("-tune -: the tuning file is both read and written, so it cannot be a standard stream")
	case engine == layers.MPE:
		return strategy, nil, errors.New("-tune is for -engine cpe: the mpe engine has one way to convolve")
	}
	t, err := tune.Open(f.tune, spec, e.Log)
	if err != nil {
		return strategy, nil, fmt.Errorf("-tune: %w", err)
	}
	return strategy, t, nil
}

// LayerStrategies are the strategies of a layer that has some, by direction; "" where it does not compute one.
type LayerStrategies struct {
	Forward        string `json:"forward"`
	WeightGradient string `json:"weight_gradient,omitempty"`
	InputGradient  string `json:"input_gradient,omitempty"`
}

// StrategiesOf returns those of layer i, nil if it has none.
func StrategiesOf(n *swnet.Net, engine layers.Engine, i int) *LayerStrategies {
	l, ok := n.Layer(i).(layers.Strategist)
	if !ok || engine == layers.MPE {
		return nil
	}
	s := &LayerStrategies{Forward: l.Strategy(shape.Forward).String()}
	if n.ComputesGradients(i, swnet.WeightGradients) {
		s.WeightGradient = l.Strategy(shape.WeightGradient).String()
	}
	if n.ComputesGradients(i, swnet.InputGradients) {
		s.InputGradient = l.Strategy(shape.InputGradient).String()
	}
	return s
}

// String lists the directions with their strategies.
func (s *LayerStrategies) String() string {
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

// Log prints a line for each layer of a net that has strategies, and warns of those that cannot use the one that the flag asks
// for.
func (f *StrategyFlags) Log(log *logrus.Logger, n *swnet.Net, engine layers.Engine) {
	asked, err := shape.ParseStrategy(f.strategy)
	if err != nil {
		asked = shape.Auto // read has refused it
	}
	found := false
	for i := range n.NumLayers() {
		s := StrategiesOf(n, engine, i)
		if s == nil {
			continue
		}
		found = true
		log.Infof("Strategies of %s: %v", n.LayerName(i), s)
		if others := s.without(asked); others != nil {
			log.Warnf("%s %v cannot compute all of layer %s; in its place: %v", f.name, asked, n.LayerName(i), others)
		}
	}
	if asked != shape.Auto && !found {
		log.Warnf("%s %v has no effect: no layer of the net chooses between strategies on engine %v", f.name, asked, engine)
	}
}

// without returns the directions that are not computed by the strategy that is asked for, nil if all are.
func (s *LayerStrategies) without(asked shape.Strategy) *LayerStrategies {
	other := func(used string) string {
		if used == asked.String() || asked == shape.Winograd && strings.HasPrefix(used, asked.String()) {
			return ""
		}
		return used
	}
	others := LayerStrategies{other(s.Forward), other(s.WeightGradient), other(s.InputGradient)}
	if asked == shape.Auto || others == (LayerStrategies{}) {
		return nil
	}
	return &others
}
