package part

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

// Steps are the Forward of the next layers, which a layer also does to its results (layers.Arranged.Steps).
type Steps struct {
	list      []layers.Step
	all, rest op.Finish // all steps, and those after a first plain ReLU; rest is nil if there are none
	bias      []float32 // added by channel before the steps, if not nil
	y         []float32 // the results of this run
	dims      [3]int    // of pass
	pass      *stream.Finishing
}

// Arrange sets the steps. It reports whether kernels made with After must be made again.
func (s *Steps) Arrange(list []layers.Step) bool {
	changed := len(s.list)+len(list) > 0
	s.list, s.rest = list, nil
	s.all = func(y []float32, at, first int) { s.apply(s.list, y, at, first) }
	switch {
	case !s.floors() && len(list) > 0:
		s.rest = s.all
	case len(list) > 1:
		s.rest = func(y []float32, at, first int) { s.apply(s.list[1:], y, at, first) }
	}
	return changed
}

// Empty reports whether there are no steps.
func (s *Steps) Empty() bool { return len(s.list) == 0 }

// ByChannel reports whether any step depends on channels. One that reads rounded blocks needs pieces of one block.
func (s *Steps) ByChannel() bool {
	return slices.ContainsFunc(s.list, func(step layers.Step) bool { return step.Rounded || step.ByChannel() })
}

// floors reports whether the first step is a plain ReLU.
func (s *Steps) floors() bool { return len(s.list) > 0 && s.list[0].Floor }

func (s *Steps) apply(list []layers.Step, y []float32, at, first int) {
	for i := range list {
		list[i].Finish(y, at, first)
	}
}

// Hold fetches what the steps read. Kernels call it before they start core groups. It returns whether the first step is a plain ReLU, and the
// other steps, nil if there are none.
func (s *Steps) Hold() (floor bool, rest op.Finish) {
	for _, step := range s.list {
		if step.Rounded {
			step.Finisher.(layers.Widener).HoldRounded(step.Others)
			continue
		}
		step.Hold(step.Others)
	}
	return s.floors(), s.rest
}

// Beside returns the array of which a step reads what has the results' places, nil if there is none or it is not in their layout.
func (s *Steps) Beside(rounded bool) []float32 {
	for _, step := range s.list {
		if len(step.Others) == 1 && step.Rounded == rounded {
			return step.Others[0].Data()
		}
	}
	return nil
}

// Last names the step that a kernel must have to do all steps: each that can do op.Post can also do op.Floor.
func (s *Steps) Last() op.Step {
	if s.rest == nil {
		return op.Floor
	}
	return op.Post
}

// Run does the steps to a top in planes, in a pass over memory. It adds biases, one for each channel, before them.
func (s *Steps) Run(b *layers.Base, top *blob.Blob, bias []float32) error {
	if s.Empty() {
		return nil
	}
	s.Hold()
	dims := [3]int{1, 1, top.Count()}
	if bias != nil || s.ByChannel() {
		dims = [3]int{top.Legacy(0), top.Legacy(1), top.Count() / max(1, top.Legacy(0)*top.Legacy(1))}
	}
	if s.pass == nil || s.dims != dims {
		pass, err := stream.NewFinishing(b.Device.Machine, dims, 0)
		if err != nil {
			return err
		}
		s.dims, s.pass = dims, pass
	}
	if s.bias = bias; bias != nil {
		return s.pass.Run(top.Data(), s.biased)
	}
	return s.pass.Run(top.Data(), s.all)
}

// biased adds the biases to some results, and then does the steps.
func (s *Steps) biased(y []float32, at, first int) {
	if s.dims[2] == 1 {
		vec.Add(y, y, s.bias[first:])
	} else {
		vec.AddScalar(y, y, s.bias[first])
	}
	s.all(y, at, first)
}

// After returns a row function of a stream kernel that does the steps to each row of the first output once it is computed. The caller gives the
// whole output to To before each run.
func (s *Steps) After(visit RowOp) RowOp {
	if s.Empty() {
		return visit
	}
	return func(t *stream.Tile, at, n, m int) {
		visit(t, at, n, m)
		at += t.At()
		s.all(s.y[at:at+n], at, t.M0+m)
	}
}

// To fetches what the steps read, for kernels made with After, whose first output is y.
func (s *Steps) To(y []float32) {
	s.y = y
	s.Hold()
}
