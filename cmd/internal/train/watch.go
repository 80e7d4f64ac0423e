package train

import (
	"fmt"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/inspect"
	"github.com/swcaffe/swcaffe/internal/app/picture"
	"github.com/swcaffe/swcaffe/internal/app/tensorboard"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/solver"
)

// watch lets the pages and TensorBoard's files see a solver. It sets the options' callbacks, which use the solver that get returns, and
// returns a function that ends it.
func (f *eventFlags) watch(opt *solver.Options, get func() *solver.Solver) (end func()) {
	if f.start != nil {
		opt.OnStart = func() error { return f.start.work(get()) }
	}
	if f.look != nil {
		opt.OnTest = func(net int) func(int) { return f.look.begin(get(), net) }
		f.look.device = &layers.Device{Engine: opt.Engine, Machine: opt.Machine, Random: layers.NewRandom(opt.Seed), Log: layers.NoLog(), Force: opt.Force}
	}
	if f.look == nil && f.board == nil {
		return func() {}
	}
	opt.OnGradients = func() error {
		if f.board != nil {
			f.summarise(get())
		}
		if f.look == nil {
			return nil
		}
		return f.look.desk.work(get())
	}
	return func() {
		if f.look != nil {
			f.look.close()
		}
	}
}

// summarise writes histograms of weights and gradients and pictures of the batch and of filters for TensorBoard, every f.summaries
// iterations.
func (f *eventFlags) summarise(s *solver.Solver) {
	w := f.board.Train()
	if f.summaries == 0 || s.Iter()%f.summaries != 0 || w == nil {
		return
	}
	var list []tensorboard.Value
	for _, l := range s.Net().Learnable() {
		name := fmt.Sprintf("%s/%d", l.Layer, l.Index)
		list = append(list, histogramOf("weights/"+name, l.Blob.Data()), histogramOf("gradients/"+name, l.Blob.Diff()))
		list = appendPicture(list, "filters/"+name, l.Blob.Data(), l.Blob.Shape())
	}
	n := s.Net()
	for i := range n.NumLayers() {
		if len(n.Bottoms(i)) > 0 || len(n.Layer(i).Params()) > 0 {
			continue
		}
		for k, top := range n.Tops(i) {
			list = appendPicture(list, "batch/"+n.LayerParam(i).GetTop()[k], top.Data(), top.Shape())
		}
	}
	w.Add(time.Now(), s.Iter(), list...)
}

func histogramOf(tag string, values []float32) tensorboard.Value {
	h := inspect.NewHistogram(values)
	finite := float64(h.Count - h.NonFinite)
	rms := float64(h.RMS)
	t := tensorboard.Histogram{Tag: tag, Min: float64(h.Min), Max: float64(h.Max), Num: finite, Sum: finite * float64(h.Mean), SumOfSqs: finite * rms * rms, Limits: h.Limits()}
	for _, c := range h.Counts {
		t.Counts = append(t.Counts, float64(c))
	}
	return t
}

// appendPicture adds a picture of values, unless they are no images.
func appendPicture(list []tensorboard.Value, tag string, values []float32, shape []int) []tensorboard.Value {
	t := picture.NewTiles(values, shape)
	if t == nil {
		return list
	}
	return append(list, tensorboard.Image{Tag: tag, Width: t.Bounds().Dx(), Height: t.Bounds().Dy(), PNG: t.PNG()})
}
