package net

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
)

// Of images in blocks of channels whose readers all have the same strides no more is made than what these meet, if the layer that makes them can do
// that (layers.ThinWriter): it stands at the front of the planes' memory. So a residual net's stages begin.

// thinImages are a blob whose images are thin, with those that share its values.
type thinImages struct {
	blobs            []*blob.Blob
	strideH, strideW int
	writer           layers.ThinWriter
	readers          []layers.ThinReader
}

// chooseThin finds such blobs and tells the layers.
func (n *Net) chooseThin() error {
	for _, d := range n.nodes {
		t := n.thinTop(d)
		if t == nil {
			continue
		}
		n.thin = append(n.thin, t)
		t.writer.WriteThin(t.strideH, t.strideW)
		for _, r := range t.readers {
			if err := r.ReadThin(true); err != nil {
				return n.fail(d, err)
			}
		}
	}
	return nil
}

// unsetThin takes it back.
func (n *Net) unsetThin() {
	for _, t := range n.thin {
		t.writer.WriteThin(1, 1)
		for _, r := range t.readers {
			if err := r.ReadThin(false); err != nil {
				panic("net: a layer does not read whole images any more: " + err.Error())
			}
		}
	}
	n.thin = nil
}

// thinTop returns how the top of a node's task can be thin, nil if it cannot.
func (n *Net) thinTop(d *node) *thinImages {
	w, ok := d.task.Layer.(layers.ThinWriter)
	if !ok || len(d.task.tops) != 1 || !n.inBlocks(d.task.tops[0]) || !w.WritesThin() || d.needBackward && slices.Contains(d.task.propagate, false) {
		return nil
	}
	top := d.task.tops[0]
	t := &thinImages{writer: w, blobs: []*blob.Blob{top}}
	shares := func(b *blob.Blob) bool { return b == top || b.SharesData(top) }
	for id, b := range n.blobs {
		if shares(b) && n.lossWeights[id] != 0 {
			return nil
		}
	}
	for _, o := range n.nodes {
		if o == d || len(o.task.nodes) == 0 {
			continue
		}
		if s, ok := o.task.Layer.(layers.GradSummer); ok && s.SumsGrads() && shares(o.task.bottoms[0]) {
			t.blobs = append(t.blobs, o.task.tops...)
			continue
		}
		if slices.ContainsFunc(o.task.tops, shares) {
			return nil
		}
		if slices.ContainsFunc(o.task.bottoms, shares) && !t.readBy(o) {
			return nil
		}
	}
	if len(t.readers) == 0 {
		return nil
	}
	return t
}

// readBy notes another reader and reports whether it reads what the others do.
func (t *thinImages) readBy(d *node) bool {
	r, ok := d.task.Layer.(layers.ThinReader)
	if !ok || len(d.task.bottoms) != 1 {
		return false
	}
	h, w := r.Strides()
	if len(t.readers) == 0 {
		t.strideH, t.strideW = h, w
	}
	t.readers = append(t.readers, r)
	return h*w > 1 && h == t.strideH && w == t.strideW
}

// thinOf returns how a blob's images are thin, nil if they are not.
func (n *Net) thinOf(b *blob.Blob) *thinImages {
	for _, t := range n.thin {
		if slices.Contains(t.blobs, b) {
			return t
		}
	}
	return nil
}

// made are the pixels of a blob's planes that are.
func (t *thinImages) made(b *blob.Blob) shape.Thin {
	return shape.Thin{H: b.Dim(2), W: b.Dim(3), StrideH: t.strideH, StrideW: t.strideW}
}

// nonFinite returns the index of the first NaN or infinity in them, -1 if there is none.
func (t *thinImages) nonFinite(b *blob.Blob) int {
	made, plane := t.made(b), b.CountFrom(2)*shape.BlockLanes
	n, values := made.Pixels()*shape.BlockLanes, b.Data()
	for at := 0; at < len(values); at += plane {
		if i := nonFiniteOf(values[at : at+n]); i >= 0 {
			return at + i
		}
	}
	return -1
}
