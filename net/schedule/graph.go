package schedule

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// Graph is a net as its prototxt describes it: layers in order, which have their shapes.
type Graph struct {
	Nodes   []*Node
	Blobs   []*blob.Blob // by blob id
	Names   []string     // by blob id
	Loss    []float32    // by blob id: the weight with which the blob counts in the loss
	Outputs []int        // ids of blobs that nobody reads
	Kept    map[int]bool // ids of blobs that somebody asked for by name, which keep what they hold

	Device      *layers.Device
	ForwardOnly bool // Backward will not be called
	// Economise: a blob that nobody can see holds undefined values after a run. Otherwise all layers run one by one, in storage of their own.
	Economise bool
	// OneByOne keeps layers apart even so, as debug_info wants them.
	OneByOne bool
	// Without are passes and fusions that are left out.
	Without []string
}

// Node is a layer with its wiring.
type Node struct {
	layers.Layer
	Name          string
	Bottoms, Tops []*blob.Blob
	BottomIDs     []int
	TopIDs        []int
	Propagate     []bool          // by bottom: it gets a gradient
	NeedsBackward bool            // the layer takes part in Backward
	Loss          []float32       // by top: its weight in the loss
	Starts        []bool          // by top: Backward begins with the loss weight as its gradient, since no layer behind computes one
	Alone         layers.Arranged // how the layer is arranged when it runs by itself
}

// starts reports whether Backward begins with the loss weight of top k.
func (d *Node) starts(k int) bool { return k < len(d.Starts) && d.Starts[k] }

// inPlace reports whether the layer overwrites its only bottom.
func (d *Node) inPlace() bool {
	return len(d.Bottoms) == 1 && len(d.Tops) == 1 && d.Bottoms[0] == d.Tops[0]
}
