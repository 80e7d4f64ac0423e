package neuron

import "github.com/swcaffe/swcaffe/blob"

// neuronFinish is the Finisher of a neuronLayer.
type neuronFinish struct {
	rule  *neuronRule
	rooms chan *room // scratch memory, one for each core; nil if the rule needs none
}

// room is scratch memory for a tile function.
type room [len(scratch{})][1024]float32

// finishes returns the layer's Finisher.
func (n *neuronLayer) finishes() *neuronFinish {
	if n.finish != nil {
		return n.finish
	}
	n.finish = &neuronFinish{rule: &n.rule}
	if n.rule.scratch {
		cores := n.Device.Machine.Spec().CoreGroups
		n.finish.rooms = make(chan *room, cores)
		for range cores {
			n.finish.rooms <- &room{}
		}
	}
	return n.finish
}

// ByChannel implements Finisher.
func (f *neuronFinish) ByChannel() bool { return false }

// Hold implements Finisher.
func (f *neuronFinish) Hold([]*blob.Blob) {}

// Finish implements Finisher.
func (f *neuronFinish) Finish(y []float32, _, _ int) {
	if f.rooms == nil {
		f.rule.tile(y, y, scratch{})
		return
	}
	r := <-f.rooms
	for len(y) > 0 {
		some := y[:min(len(y), len(r[0]))]
		var tmp scratch
		for k := range tmp {
			tmp[k] = r[k][:len(some)]
		}
		f.rule.tile(some, some, tmp)
		y = y[len(some):]
	}
	f.rooms <- r
}
