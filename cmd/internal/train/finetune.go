package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/solver"
)

// Finetune declares finetune.
var Finetune = cli.Command{
	Name:     "finetune",
	Synopsis: "train on from pretrained weights",
	Args:     "-solver FILE -weights FILES",
	Example:  "swcaffe finetune -solver solver.prototxt -weights bvlc_reference_caffenet.caffemodel",
	Help: `Trains as train -weights does, with the same flags. First it lists every layer: with weights from the files, new, or frozen. A layer takes
the weights of the layer with the same name. A layer of another shape, such as the last one for other classes, needs a new name. The net
sets learning rates: new layers usually get a larger lr_mult than the others, and lr_mult: 0 freezes a layer. A stopped run resumes with
-snapshot instead of -weights.`,
	Joins: true,
	Do:    cli.With(trainFlags, finetune),
}

func finetune(e *cli.Env, o *trainOptions) error {
	if o.weights == "" && o.snapshot == "" {
		return cli.Usagef("need pretrained weights to start from: -weights FILES")
	}
	o.finetunes = o.weights != ""
	return train(e, o)
}

// logOrigins logs which layers' weights come from the files of a list, with the factors of their learning rates.
func logOrigins(log *logrus.Logger, s *solver.Solver, list string) error {
	stored, err := solver.StoredLayers(s.Net(), list)
	if err != nil {
		return err
	}
	type layer struct {
		name string
		mult []float32
	}
	var all []layer
	for _, w := range s.Net().Learnable() {
		if n := len(all); n == 0 || all[n-1].name != w.Layer {
			all = append(all, layer{name: w.Layer})
		}
		last := &all[len(all)-1]
		last.mult = append(last.mult, w.LRMult)
	}
	for _, l := range all {
		origin, isNew := "from the weights", !stored[l.name]
		if isNew {
			origin = "new"
		}
		frozen := !slices.ContainsFunc(l.mult, func(m float32) bool { return m != 0 })
		rate := "lr_mult " + strings.Trim(fmt.Sprint(l.mult), "[]")
		if frozen {
			rate = "frozen (lr_mult 0)"
		}
		log.Infof("Layer %s: %s, %s", l.name, origin, rate)
		if isNew && frozen {
			log.Warnf("Layer %s is new and has lr_mult 0: it keeps the values of its fillers", l.name)
		}
	}
	return nil
}
