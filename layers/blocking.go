package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Blocker is implemented by layers that can work on images whose channels lie in blocks (shape.BlockLanes): a net keeps such a
// layout through a run of layers, so that nothing is turned between them.
type Blocker interface {
	// Blocking says what the layer can do, as it stands after Reshape.
	Blocking() Blocking
	// SetBlocked says how the values and gradients of all bottoms and of all tops lie from now on. It is called after Reshape, which may
	// come again: bottoms of other shapes lie as before, or are refused.
	SetBlocked(bottoms, tops bool) error
}

// Blocking is what a layer can do with blocks of channels.
type Blocking struct {
	Bottoms, Tops bool // may lie in blocks
	Alike         bool // if bottoms do, tops do
	Gains         bool // it has less to do then
}

// Turner is implemented by Blockers that bring values from planes to blocks of channels, or back, where a blob does not lie as they
// work: Turns says how often they do that in an iteration, as they stand after Reshape, and for how many values.
type Turner interface {
	Turns() (times, values int)
}

// alike is the Blocking of layers whose bottoms and tops lie the same way, either one.
var alike = Blocking{Bottoms: true, Tops: true, Alike: true}

// blockable reports whether the layer computes where images may lie in blocks: on the CPE path of a native machine.
func (b *Base) blockable() bool { return !b.mpe() && shape.HasBlocks(b.Device.Machine) }

// inBlocks is the Blocking of a layer that works channel by channel on an outer x channels x inner array, for a blob of axes axes.
func (b *Base) inBlocks(axes int, dims [3]int) Blocking {
	if !b.blockable() || axes != 4 || dims[1] == 0 || dims[1]%shape.BlockLanes != 0 {
		return Blocking{}
	}
	return alike
}

// check returns an error if a layer that can do no more than this is asked for a layout.
func (b Blocking) check(bottoms, tops bool) error {
	if bottoms && !b.Bottoms || tops && !b.Tops || b.Alike && bottoms != tops {
		return fmt.Errorf("blocks of channels are asked for (bottoms: %t, tops: %t) of a layer that can do %+v", bottoms, tops, b)
	}
	return nil
}

// anyLayout is the Base of layers that work element by element: where a value lies makes no difference to them.
type anyLayout struct{ Base }

// Blocking implements Blocker.
func (l *anyLayout) Blocking() Blocking {
	if !l.blockable() {
		return Blocking{}
	}
	return alike
}

// SetBlocked implements Blocker.
func (l *anyLayout) SetBlocked(bottoms, tops bool) error { return l.Blocking().check(bottoms, tops) }
