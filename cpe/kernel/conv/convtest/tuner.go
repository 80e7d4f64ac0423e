package convtest

import (
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Scripted is a tuner that always finds the same family fastest.
type Scripted struct {
	spec    cpe.Spec
	fastest shape.Strategy
	Known   map[string]shape.Strategy
	Took    map[shape.Direction][]shape.Strategy
	clock   time.Time
}

// NewScripted is a tuner of kerneltest's host.
func NewScripted(t testing.TB, fastest shape.Strategy) *Scripted {
	return &Scripted{spec: kerneltest.HostSpec(t), fastest: fastest, Known: map[string]shape.Strategy{}, Took: map[shape.Direction][]shape.Strategy{}}
}

func (u *Scripted) Choice(t conv.Key) (string, bool) {
	st, ok := u.Known[t.String()+t.Direction.String()]
	if !ok {
		return "", false
	}
	p := conv.Problem{Shape: t.Shape, Direction: t.Direction, Spec: &u.spec}
	if t.ImagesInBlocks {
		p.Images = shape.Blocks
	}
	if t.ResultsInBlocks {
		p.Results = shape.Blocks
	}
	name, err := chosen(&p, op.Force{Family: st})
	if err != nil {
		panic(err)
	}
	if familyOf(name) != st { // no algorithm of the strategy computes it
		name = st.String() + "-tiles"
	}
	return name, true
}

func (u *Scripted) Now() time.Time {
	u.clock = u.clock.Add(time.Millisecond)
	return u.clock
}

func (u *Scripted) Measured(task conv.Key, took []conv.Timing) error {
	u.Known[task.String()+task.Direction.String()] = u.fastest
	for _, t := range took {
		u.Took[task.Direction] = append(u.Took[task.Direction], familyOf(t.Algorithm))
	}
	return nil
}
