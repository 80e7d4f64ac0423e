package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
)

// parsePhases parses the value of -phase.
func parsePhases(s string) ([]caffepb.Phase, error) {
	if s == "ALL" {
		return []caffepb.Phase{caffepb.Phase_TRAIN, caffepb.Phase_TEST}, nil
	}
	phase, err := cli.ParsePhase(s)
	if err != nil {
		return nil, cli.Usagef("-phase %q: must be TRAIN, TEST or ALL", s)
	}
	return []caffepb.Phase{phase}, nil
}

// net builds a net for the phases for which it has layers.
func (c *checker) net(path string, log *logrus.Logger) error {
	file, err := cli.ReadNet(&cli.Env{Log: log}, path, &c.o.state)
	if err != nil {
		return err
	}
	if c.o.snapshot != "" {
		log.Warnf("-snapshot has no effect: it is for solvers, and this is a net")
	}
	var found []error
	for _, phase := range phasesOf(file, c.phases, &c.o.state, log) {
		err := c.phase(file, phase, log)
		if err != nil && !slices.ContainsFunc(found, func(known error) bool { return known.Error() == err.Error() }) {
			found = append(found, err)
		}
	}
	return errors.Join(found...)
}

// phase builds a net for a phase.
func (c *checker) phase(file *swproto.Net, phase caffepb.Phase, log *logrus.Logger) error {
	device := &layers.Device{Engine: c.o.device.Engine, Machine: c.machine, Random: layers.NewRandom(1), Log: log}
	n, err := cli.BuildNet(file, phase, &c.o.state, swnet.Options{Device: device, Economise: true, ForwardOnly: phase == caffepb.Phase_TEST})
	if err != nil {
		return err
	}
	if phase == caffepb.Phase_TRAIN {
		err = n.CheckBackward()
	}
	switch {
	case c.o.weights == "" || err != nil:
	case phase == caffepb.Phase_TRAIN:
		err = solver.LoadWeights(n, c.o.weights, log)
	default:
		_, err = solver.LoadTrained(n, c.o.weights, log)
	}
	if c.o.reader != "" {
		refused, advice := readerNamed(c.o.reader).look(n)
		for _, a := range advice {
			log.Warn(a)
		}
		err = errors.Join(append([]error{err}, refused...)...)
	}
	return errors.Join(err, c.add(n, phase, log), n.Close())
}

// phasesOf lists those of some phases for which a net is made. A train.prototxt as SSD's, whose data layer is for TRAIN alone, is no net for TEST: a
// warning says so. If all phases lack something, all are listed, so that building them finds the fault.
func phasesOf(file *swproto.Net, phases []caffepb.Phase, state *cli.StateFlags, log *logrus.Logger) (list []caffepb.Phase) {
	var warnings []string
	for _, phase := range phases {
		kept, _, err := swnet.Filter(file.Param, state.StateOver(file, phase))
		if err != nil {
			return phases
		}
		if len(kept.Layer) == 0 {
			continue
		}
		layer, blob := elsewhere(kept.Layer, file.Param.Layer)
		if blob == "" {
			list = append(list, phase)
			continue
		}
		warnings = append(warnings, fmt.Sprintf("there is no net for phase %s: layer %q needs %q, which only layers of other phases make", phase, layer, blob))
	}
	if len(list) == 0 {
		return phases
	}
	for _, w := range warnings {
		log.Warn(w)
	}
	return list
}

// elsewhere finds the first layer of a phase with a bottom that no earlier one makes, but some layer of the file does, and that bottom.
func elsewhere(kept, all []*caffepb.LayerParameter) (layer, blob string) {
	made := map[string]bool{}
	for _, l := range kept {
		for _, b := range l.Bottom {
			if !made[b] && slices.ContainsFunc(all, func(l *caffepb.LayerParameter) bool {
				return slices.Contains(l.Top, b) && !slices.Contains(l.Bottom, b)
			}) {
				return l.GetName(), b
			}
		}
		for _, t := range l.Top {
			made[t] = true
		}
	}
	return "", ""
}
