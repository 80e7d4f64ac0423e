package conv

import (
	"time"

	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Tuner remembers the fastest algorithms, as measured on this computer.
type Tuner interface {
	// Choice returns the name of the fastest algorithm for a key, if it is known.
	Choice(Key) (algorithm string, known bool)
	// Measured records the times of all candidates, first the cost model's. From then on Choice knows the key.
	Measured(k Key, took []Timing) error
	// Now returns the time of the clock used for measuring.
	Now() time.Time
}

// Key identifies a tuned problem: shape, direction, layouts and the number types that are permitted.
type Key struct {
	Shape           shape.Conv
	Direction       shape.Direction
	ImagesInBlocks  bool
	ResultsInBlocks bool
	Inference       bool // inference has other algorithms for the shape than training
	Types           op.Types
}

// String prints the shape, the layouts, whether the problem is one of inference, and the types.
func (t Key) String() string {
	text := t.Shape.String()
	switch {
	case t.ImagesInBlocks && t.ResultsInBlocks:
		text += ", in blocks"
	case t.ImagesInBlocks:
		text += ", images in blocks"
	case t.ResultsInBlocks:
		text += ", results in blocks"
	}
	if t.Inference {
		text += ", inference"
	}
	if t.Types != (op.Types{}) {
		text += ", in " + t.Types.String()
	}
	return text
}

// Timing is the measured time of an algorithm.
type Timing struct {
	Algorithm string
	Time      time.Duration
}
