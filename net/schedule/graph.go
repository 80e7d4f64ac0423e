package schedule

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// Graph is a net as its prototxt describes it: layers in order, with known shapes.
type Graph struct {
	Nodes   []*Node
	Blobs   []*blob.Blob // by blob id
	Names   []string     // by blob id
	Loss    []float32    // by blob id: its weight in the loss
	Outputs []int        // ids of blobs that no layer reads
	Kept    map[int]bool // ids of blobs requested by name, which must keep their values

	Device      *layers.Device
	ForwardOnly bool // Backward is never called
	Changing    bool // weights change between runs
	// Economise permits the passes to reuse storage: blobs that are not visible outside hold undefined values after a run. Otherwise each
	// layer runs by itself, with storage of its own.
	Economise bool
	// OneByOne keeps layers separate even if Economise is set, as debug_info needs.
	OneByOne bool
	// Without disables passes and fusions by name.
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
	Loss          []float32       // by top: weight in the loss
	Starts        []bool          // by top: Backward starts from the loss weight, since no later layer computes the gradient
	Alone         layers.Arranged // the layer's arrangement without fusion
}

// starts reports whether Backward starts at top k from its loss weight.
func (d *Node) starts(k int) bool { return k < len(d.Starts) && d.Starts[k] }

// inPlace reports whether the layer overwrites its only bottom.
func (d *Node) inPlace() bool {
	return len(d.Bottoms) == 1 && len(d.Tops) == 1 && d.Bottoms[0] == d.Tops[0]
}
