package utility

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
)

// joiner copies between a blob, the whole, and its parts along an axis. Whole and parts are arrays of outer rows. A row of the whole is the
// concatenation of the parts' rows.
type joiner struct {
	layers.Base
	axis    int
	blocked bool // parts and whole have channels in blocks
	outer   int
	whole   int   // values per row of the whole
	parts   []int // values per row of each part
	at      []int // start of each part in a row of the whole

	planned []int // parts when the plan gave them places in the whole, or nil

	puts, takes []*stream.Copy
	next        []int // scratch: the argument parts of reshape
	shape       []int // scratch: a blob's new shape
}

// blocking returns the supported layouts for parts with the given numbers of values per row. Blocks are supported if each part consists of
// whole blocks of channels: these are contiguous in an image, as channels are in planes.
func (j *joiner) blocking(parts []int) layers.Blocking {
	if !j.Blockable() || j.axis != 1 || len(j.shape) != 4 {
		return layers.Blocking{}
	}
	block := shape.BlockLanes * j.shape[2] * j.shape[3]
	if block == 0 || slices.ContainsFunc(parts, func(n int) bool { return n%block != 0 }) {
		return layers.Blocking{}
	}
	return layers.Alike
}

// Traits implements Planned. Backward only copies gradients.
func (j *joiner) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.ReadsNothing, Layout: j.blocking(j.parts)}
	if j.outer == 1 && j.Blockable() {
		t.Whole.Starts = j.at
	}
	return t
}

// Arrange implements Planned.
func (j *joiner) Arrange(a layers.Arranged) error {
	j.blocked, j.planned = a.In.Blocks, nil
	if a.Whole {
		j.planned = slices.Clone(j.parts)
	}
	return nil
}

// moved reports whether the shapes are others than those for which the plan gave parts places in the whole, as behind a layer whose top depends on values. Parts and whole then
// share memory, but not as they should.
func (j *joiner) moved() bool {
	return j.planned != nil && (j.outer != 1 || !slices.Equal(j.planned, j.parts))
}

// stands reports whether a part is where it belongs in the whole.
func (j *joiner) stands(k int, whole, part []float32) bool {
	return j.planned != nil && j.outer == 1 && &part[0] == &whole[j.at[k]]
}

// reshape prepares copies for parts with the given numbers of values per row.
func (j *joiner) reshape(outer int, parts []int) error {
	lies := layers.Arranged{In: layers.Blocks(j.blocked), Out: layers.Blocks(j.blocked)}
	if err := j.blocking(parts).Check(lies); err != nil || j.outer == outer && slices.Equal(j.parts, parts) {
		return err
	}
	j.outer, j.whole, j.parts = outer, 0, slices.Clone(parts)
	j.at, j.puts, j.takes = nil, nil, nil
	for _, n := range parts {
		j.at = append(j.at, j.whole)
		j.whole += n
	}
	if j.MPE() {
		return nil
	}
	for _, n := range parts {
		put, err := stream.NewCopy(j.Device.Machine, stream.CopyShape{Outer: 1, Rows: outer, Cols: n, SrcRow: n, DstRow: j.whole})
		if err != nil {
			return err
		}
		take, err := stream.NewCopy(j.Device.Machine, stream.CopyShape{Outer: 1, Rows: outer, Cols: n, SrcRow: j.whole, DstRow: n})
		if err != nil {
			return err
		}
		j.puts, j.takes = append(j.puts, put), append(j.takes, take)
	}
	return nil
}

// put copies part k into the whole.
func (j *joiner) put(k int, whole, part []float32) error {
	n, at := j.parts[k], j.at[k]
	switch {
	case len(part) == 0 || j.stands(k, whole, part):
		return nil
	case !j.MPE():
		return j.puts[k].Run(whole[at:], part)
	}
	for o := range j.outer {
		copy(whole[o*j.whole+at:], part[o*n:(o+1)*n])
	}
	return nil
}

// take copies part k out of the whole. If above is not nil, take writes zeros where above is not positive (ReLU mask); this needs a native
// machine.
func (j *joiner) take(k int, part, whole, above []float32) error {
	n, at := j.parts[k], j.at[k]
	switch {
	case len(part) == 0 || j.stands(k, whole, part):
		return nil
	case !j.MPE():
		return j.takes[k].RunWhere(part, whole[at:], above)
	}
	for o := range j.outer {
		copy(part[o*n:(o+1)*n], whole[o*j.whole+at:])
	}
	return nil
}
