package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// Plan is a list of tasks. The passes build it, and then a net runs it.
type Plan struct {
	Tasks   []*Task  // by node
	Notes   []Note   // what the passes did, in order
	Log     []string // the notes that belong in the net's log
	Layouts Layouts
	Memory  Memory

	*Graph
	wiring
	moved   []move
	blocked map[*blob.Blob]bool // blobs with channels in blocks
	thin    []*thinImages
	rounded map[blob.Storage]bool  // storages of values in rounded blocks
	pieces  map[blob.Storage]piece // storages of values that stand in others
}

// Note says what a pass did to some layers.
type Note struct {
	Pass   string   `json:"pass"`
	Layers []string `json:"layers"`
	Did    string   `json:"did"`
}

func (n Note) String() string {
	if len(n.Layers) == 0 {
		return fmt.Sprintf("%s: %s", n.Pass, n.Did)
	}
	return fmt.Sprintf("%s: %s: %s", n.Pass, strings.Join(n.Layers, ", "), n.Did)
}

func (p *Plan) note(pass string, layers []string, did string, args ...any) {
	p.Notes = append(p.Notes, Note{pass, layers, fmt.Sprintf(did, args...)})
}

func (p *Plan) log(format string, args ...any) { p.Log = append(p.Log, fmt.Sprintf(format, args...)) }

// leavesOut reports whether a pass or fusion is disabled.
func (g *Graph) leavesOut(name string) bool { return slices.Contains(g.Without, name) }

// move records that a blob's values or gradient are elsewhere while the plan is in use.
type move struct {
	blob, home *blob.Blob // home keeps the blob's own storage
	diff       bool
}

// moveData and moveDiff make a blob share another's values or gradient until Release.
func (p *Plan) moveData(b, to *blob.Blob) {
	home := p.Device.NewBlob(b.Shape()...)
	home.ShareData(b)
	b.ShareData(to)
	p.moved = append(p.moved, move{b, home, false})
}

func (p *Plan) moveDiff(b, to *blob.Blob) {
	home := p.Device.NewBlob(b.Shape()...)
	home.ShareDiff(b)
	b.ShareDiff(to)
	p.moved = append(p.moved, move{b, home, true})
}

// Release returns blobs and layers to their state before planning: blobs get their own storage back, and every layer its arrangement
// without fusion. The plan can still run, with images in planes.
func (p *Plan) Release() {
	for _, m := range p.moved {
		m.home.ReshapeLike(m.blob)
		if m.diff {
			m.blob.ShareDiff(m.home)
		} else {
			m.blob.ShareData(m.home)
		}
	}
	release := func(l layers.Layer, name string, a layers.Arranged) {
		if err := layers.Arrange(l, a); err != nil {
			panic("schedule: layer " + name + " refuses its arrangement without fusion: " + err.Error())
		}
	}
	for _, t := range p.Tasks {
		if len(t.Nodes) > 1 {
			release(t.Layer, t.Nodes[0].Name, layers.Arranged{})
		}
	}
	for _, d := range p.Nodes {
		release(d.Layer, d.Name, d.Alone)
	}
	unfold(p.Nodes)
}

// Holds reports whether a request for a blob by name needs a new plan: the blob is between fused layers, it shares values or gradient by
// the plan, or it has channels in blocks.
func (p *Plan) Holds(id int) bool {
	b := p.Blobs[id]
	return p.between(id) || p.InBlocks(b) || slices.ContainsFunc(p.moved, func(m move) bool {
		return m.blob == b || m.diff && m.blob.SharesDiff(b)
	})
}

// Complete reports whether the gradients of node i are complete once Backward has reached node at. If node i is fused with an earlier
// layer, they are complete only after that layer.
func (p *Plan) Complete(i, at int) bool {
	if !p.Tasks[i].Empty() {
		return i >= at
	}
	for k := i - 1; k >= at; k-- {
		if slices.Contains(p.Tasks[k].Nodes, p.Nodes[i]) {
			return true
		}
	}
	return false
}
