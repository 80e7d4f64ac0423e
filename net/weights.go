package net

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/swcaffe/swcaffe/blob"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// CopyWeights copies the weights of a trained net into the layers of the same name; of several layers with weights and one name, in their order. Layers missing in p keep their values, and layers of p
// missing in the net are ignored; the log says so for each. If nothing was copied, it has a warning. CopyWeights returns an error if a
// layer has a different number of weights or other shapes.
func (n *Net) CopyWeights(p *caffepb.NetParameter) error {
	return n.LoadWeights(&swproto.Weights{Param: p})
}

// LoadWeights is CopyWeights for a file. It reads the values directly into the weights. A net for inference reads those of a layer when the layer needs them: where it packs
// them, the values of few layers are in memory twice. The file must not be written to until then; it may be replaced by another one.
func (n *Net) LoadWeights(w *swproto.Weights) error {
	copied, pairs := map[*node]bool{}, n.pairing()
	var reads weightReads
	load := (*blob.Blob).Load
	if n.opt.ForwardOnly && !n.opt.Changing {
		load = (*blob.Blob).LoadLater
	}
	for _, src := range w.Param.Layer {
		d := pairs.next(src.GetName(), len(src.Blobs) > 0)
		if d == nil {
			n.log.Infof("Ignoring source layer %s", src.GetName())
			continue
		}
		lacks := func(i int) bool { return w.Unshared && n.params[d.paramIDs[i]].shared }
		list, err := d.weightsFrom(src.Blobs, lacks)
		if err != nil {
			return n.fail(d, err)
		}
		for i, p := range list {
			if p != nil {
				reads.add(d.Params()[i], func() error {
					if err := load(d.Params()[i], p, w.Stored); err != nil {
						return n.fail(d, fmt.Errorf("cannot copy param %d: %w", i, err))
					}
					return nil
				})
			}
		}
		copied[d] = len(src.Blobs) > 0 || copied[d]
	}
	if err := reads.run(); err != nil {
		return err
	}
	n.logUncopied(copied, len(w.Param.Layer))
	return nil
}

// logUncopied logs the layers with weights of their own that were not copied from a file with so many layers.
func (n *Net) logUncopied(copied map[*node]bool, layers int) {
	var without []string
	some := false
	for _, d := range n.nodes {
		own := slices.ContainsFunc(d.paramIDs, func(id int) bool { return !n.params[id].shared })
		if some = some || copied[d]; own && !copied[d] {
			without = append(without, d.param.GetName())
		}
	}
	if len(without) > 0 && layers == 0 {
		n.log.Warnf("No weights were copied: the file has no layers, so that all keep their present weights (%s)", strings.Join(without, ", "))
		return
	}
	if len(without) > 0 && !some {
		n.log.Warnf("No weights were copied: the file has no layer with the name of one of the net's layers with weights (%s)", strings.Join(without, ", "))
		return
	}
	for _, name := range without {
		n.log.Infof("Layer %s keeps its present weights: the file has no weights for it", name)
	}
}

// weightsFrom returns what is stored for each of a layer's weights, nil for those that may be missing: a trained net's, or blobs in the prototxt. lacks
// says which weights may be nil, or missing at the end.
func (d *node) weightsFrom(stored []*caffepb.BlobProto, lacks func(i int) bool) ([]*caffepb.BlobProto, error) {
	stored = slices.Clone(stored)
	for i := len(stored); i < len(d.Params()) && lacks(i); i++ {
		stored = append(stored, nil)
	}
	if len(stored) != len(d.Params()) {
		return nil, fmt.Errorf("incompatible number of blobs: the weights have %d, the layer has %d", len(stored), len(d.Params()))
	}
	for i, b := range d.Params() {
		switch p := stored[i]; {
		case p == nil && lacks(i):
		case p == nil:
			return nil, fmt.Errorf("incompatible number of blobs: the weights have none for param %d", i)
		case !b.SameShape(p):
			return nil, fmt.Errorf("cannot copy param %d: shape mismatch: the weights' shape is %s, the layer's is %s; to learn this layer's parameters from scratch, rename the layer",
				i, cmp.Or(strings.Trim(fmt.Sprint(blob.ProtoShape(p)), "[]"), fmt.Sprintf("not stated, for %d values", len(p.GetData())+len(p.GetDoubleData()))), b.ShapeString())
		}
	}
	return stored, nil
}

// copyBlobs copies a layer's weights from blobs in the prototxt.
func (d *node) copyBlobs(stored []*caffepb.BlobProto) error {
	list, err := d.weightsFrom(stored, func(int) bool { return false })
	if err != nil {
		return err
	}
	for i, b := range d.Params() {
		if err := b.Load(list[i], nil); err != nil {
			return fmt.Errorf("cannot copy param %d: %w", i, err)
		}
	}
	return nil
}

// weightReads are weights to be read from a file, by several goroutines. The file is not mapped: one that is cut meanwhile would end the process, and reading into large
// pages costs little more. Those that layers share are read one after the other: the last one counts.
type weightReads struct {
	of    map[blob.Storage]int // the place in lists
	lists [][]func() error
}

func (r *weightReads) add(b *blob.Blob, read func() error) {
	k, ok := r.of[b.DataStorage()]
	if !ok {
		if r.of == nil {
			r.of = map[blob.Storage]int{}
		}
		k = len(r.lists)
		r.of[b.DataStorage()], r.lists = k, append(r.lists, nil)
	}
	r.lists[k] = append(r.lists[k], read)
}

// run reads the weights. It returns the error of those that were added first.
func (r *weightReads) run() error {
	errs := make([]error, len(r.lists))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(r.lists)) {
		readers.Go(func() {
			for k := next.Add(1) - 1; int(k) < len(r.lists); k = next.Add(1) - 1 {
				for _, read := range r.lists[k] {
					errs[k] = cmp.Or(errs[k], read())
				}
			}
		})
	}
	readers.Wait()
	return cmp.Or(errs...)
}

// ShareWeights makes the layers of n use the weights of other's layers of the same name, as a test net shares those of the training net.
func (n *Net) ShareWeights(other *Net) error {
	pairs := n.pairing()
	for _, src := range other.nodes {
		d := pairs.next(src.param.GetName(), src.hasWeights())
		if d == nil {
			continue
		}
		if len(d.Params()) != len(src.Params()) {
			return n.fail(d, fmt.Errorf("incompatible number of blobs: %d here, %d in net %q", len(d.Params()), len(src.Params()), other.name))
		}
		for i, b := range d.Params() {
			if !slices.Equal(b.Shape(), src.Params()[i].Shape()) {
				return n.fail(d, fmt.Errorf("cannot share param %d: shape %s here, %s in net %q", i, b.ShapeString(), src.Params()[i].ShapeString(), other.name))
			}
			b.ShareData(src.Params()[i])
		}
	}
	return nil
}

// useWeightsOf is ShareWeights for a net without weights of its own: every weight must be there.
func (n *Net) useWeightsOf(other *Net) error {
	if err := n.ShareWeights(other); err != nil {
		return err
	}
	of := map[blob.Storage]bool{}
	for _, p := range other.params {
		of[p.blob.DataStorage()] = true
	}
	for _, p := range n.params {
		if !of[p.blob.DataStorage()] {
			return n.fail(p.node, fmt.Errorf("net %q, whose weights are shared, has no param %d of this layer", other.name, p.index))
		}
	}
	return nil
}

// Shares reports whether weight i of a layer is owned by another layer.
func (n *Net) Shares(layer, i int) bool { return n.params[n.nodes[layer].paramIDs[i]].shared }

// ToProto returns the net in Caffe's format: all layers, with inserted Split layers, and their weights, with gradients if withDiff. The
// values are the net's own slices, not copies.
func (n *Net) ToProto(withDiff bool) *caffepb.NetParameter {
	p := &caffepb.NetParameter{Name: proto.String(n.name)}
	for _, d := range n.nodes {
		l := proto.CloneOf(d.param)
		l.Blobs = nil
		for _, b := range d.Params() {
			l.Blobs = append(l.Blobs, b.ToProto(withDiff))
		}
		p.Layer = append(p.Layer, l)
	}
	return p
}
