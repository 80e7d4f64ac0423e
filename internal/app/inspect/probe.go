// Package inspect looks into a net while it trains: weights, gradients, activations, times.
//
// A Probe has a net of its own, with the training net's layers. Look copies the weights and the current batch there and runs one pass. So
// the training's values, memory and random numbers stay as they are, and layers that training computes together can be seen one by one.
//
//	probe.go      Probe and its pass
//	layer.go      Layer: what a layer holds
//	batch.go      Batch: the images and labels of the current batch
//	histogram.go  Histogram: statistics of values
package inspect

import (
	"fmt"
	"time"

	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Probe looks into a training net. Its methods are called between two runs of that net, on the same goroutine.
type Probe struct {
	train, own *swnet.Net
	took       []times // of the last Look, by layer
}

// times are the durations of a layer's passes.
type times struct{ forward, backward time.Duration }

// NewProbe builds a probe's net. The device's random numbers are used for dropout and the like.
func NewProbe(train *swnet.Net, device *layers.Device) (*Probe, error) {
	p := &caffepb.NetParameter{Name: proto.String(train.Name())}
	for i := range train.NumLayers() {
		l := proto.CloneOf(train.LayerParam(i))
		if isSource(train, i) {
			l = input(train, i)
		}
		l.Include, l.Exclude = nil, nil
		p.Layer = append(p.Layer, l)
	}
	own, err := swnet.New(p, swnet.Options{State: &caffepb.NetState{Phase: caffepb.Phase_TRAIN.Enum()}, Device: device})
	if err != nil {
		return nil, fmt.Errorf("the net that is looked into: %w", err)
	}
	return &Probe{train: train, own: own, took: make([]times, own.NumLayers())}, nil
}

// isSource reports whether layer i reads data.
func isSource(n *swnet.Net, i int) bool {
	return len(n.Bottoms(i)) == 0 && len(n.Tops(i)) > 0 && len(n.Layer(i).Params()) == 0
}

// input returns an Input layer for the tops of layer i.
func input(n *swnet.Net, i int) *caffepb.LayerParameter {
	from := n.LayerParam(i)
	l := &caffepb.LayerParameter{Name: from.Name, Type: proto.String("Input"), Top: from.Top, InputParam: &caffepb.InputParameter{}}
	for _, b := range n.Tops(i) {
		s := &caffepb.BlobShape{}
		for _, d := range b.Shape() {
			s.Dim = append(s.Dim, int64(d))
		}
		l.InputParam.Shape = append(l.InputParam.Shape, s)
	}
	return l
}

// Close frees the probe's net.
func (p *Probe) Close() error { return p.own.Close() }

// Look runs a pass on the current batch with the current weights. seen, if not nil, is called after each layer's Forward, before later layers
// change its blobs.
func (p *Probe) Look(seen func(layer int)) error {
	if err := p.copy(); err != nil {
		return err
	}
	p.own.ClearParamDiffs()
	for i := range p.own.NumLayers() {
		begun := time.Now()
		if _, err := p.own.ForwardLayer(i); err != nil {
			return err
		}
		p.took[i].forward = time.Since(begun)
		if seen != nil {
			seen(i)
		}
	}
	for i := p.own.NumLayers() - 1; i >= 0; i-- {
		begun := time.Now()
		if err := p.own.BackwardLayer(i); err != nil {
			return err
		}
		p.took[i].backward = time.Since(begun)
	}
	return nil
}

// copy copies the current batch and the weights.
func (p *Probe) copy() error {
	reshaped := false
	for i := range p.train.NumLayers() {
		if !isSource(p.train, i) {
			continue
		}
		for k, from := range p.train.Tops(i) {
			to := p.own.Tops(i)[k]
			if from.ShapeString() != to.ShapeString() {
				to.ReshapeLike(from)
				reshaped = true
			}
			copy(to.Data(), from.Data())
		}
	}
	if reshaped {
		if err := p.own.Reshape(); err != nil {
			return err
		}
	}
	for i := range p.train.NumLayers() {
		for k, from := range p.train.Layer(i).Params() {
			copy(p.own.Layer(i).Params()[k].Data(), from.Data())
		}
	}
	return nil
}
