package infer

import (
	"flag"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/predict"
)

// preprocessing is how classify and detect turn images into input: as a net's layer says, with the means and the scale of flags in the
// place of its own.
type preprocessing struct {
	mean, values string
	scale        float64
}

// noMean is the -mean that subtracts nothing.
const noMean = "none"

func (p *preprocessing) register(fs *flag.FlagSet) {
	cli.StringVar(fs, &p.mean, "mean", "", "a mean image `FILE`, of which the mean of each channel is subtracted; or the net definition of the training (.prototxt), "+
		"whose data layer in phase TEST then says how images are resized, cropped and scaled and what is subtracted; or none", cli.OneOf(noMean).OrFiles(cli.FileOf(".binaryproto")).OrFiles(cli.Prototxt))
	fs.StringVar(&p.values, "mean_value", "", "a `VALUE` to subtract from pixels, or one for each channel, separated by commas")
	fs.Float64Var(&p.scale, "scale", 0, "the factor for pixels, in the place of transform_param's scale; 0: that of the net")
}

// check validates the flags.
func (p *preprocessing) check() error {
	if p.values != "" && p.mean != "" && !p.ofTraining() {
		return cli.Usagef("-mean %s and -mean_value %s: use one of them", p.mean, p.values)
	}
	_, err := p.meanValues()
	return err
}

// ofTraining reports whether -mean names the net of the training.
func (p *preprocessing) ofTraining() bool { return filepath.Ext(p.mean) == ".prototxt" }

func (p *preprocessing) meanValues() (values []float32, err error) {
	if p.values == "" {
		return nil, nil
	}
	for _, word := range strings.Split(p.values, ",") {
		v, err := strconv.ParseFloat(word, 64) // rounded through a double, like the numbers of a prototxt
		if err != nil || math.IsNaN(v) || math.IsInf(float64(float32(v)), 0) {
			return nil, cli.Usagef("-mean_value %s: %q is not a number", p.values, word)
		}
		values = append(values, float32(v))
	}
	return values, nil
}

// load loads a model for the images of a command.
func (p *preprocessing) load(e *cli.Env, d *cli.DeviceFlags, opt predict.Options) (*predict.Model, error) {
	if err := p.apply(&opt); err != nil {
		return nil, err
	}
	spec, err := d.Spec(e)
	if err != nil {
		return nil, err
	}
	m, err := loadModel(e.Log, d, spec, opt)
	if err == nil {
		e.Repeat(m.Untrained())
	}
	return m, err
}

// apply puts the flags into the options of a model.
func (p *preprocessing) apply(opt *predict.Options) (err error) {
	opt.Scale = p.scale
	if opt.Mean, err = p.meanValues(); err != nil {
		return err
	}
	switch {
	case p.ofTraining():
		opt.Training = p.mean
	case p.mean == noMean:
		opt.NoMean = true
	default:
		opt.MeanFile = p.mean
	}
	return nil
}

// loadModel loads a model onto a machine.
func loadModel(log *logrus.Logger, d *cli.DeviceFlags, machine cpe.Spec, opt predict.Options) (*predict.Model, error) {
	opt.Machine, opt.Engine, opt.Seed, opt.Log = &machine, d.Engine, d.SeedOrTime(), log
	return predict.Load(opt)
}
