package quantise

import (
	"slices"

	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// weights are the weights of layers by name.
type weights map[string][]*caffepb.BlobProto

// weightsOf returns those of a net.
func weightsOf(n *swnet.Net) weights {
	w := weights{}
	for i := range n.NumLayers() {
		for _, b := range n.Layer(i).Params() {
			p := b.ToProto(false)
			p.Data = slices.Clone(p.Data)
			w[n.LayerName(i)] = append(w[n.LayerName(i)], p)
		}
	}
	return w
}

// file returns the layers of p that have weights, with these.
func (w weights) file(p *caffepb.NetParameter) *caffepb.NetParameter {
	f := &caffepb.NetParameter{Name: p.Name}
	for _, l := range p.Layer {
		if blobs := w[l.GetName()]; len(blobs) > 0 && !slices.ContainsFunc(f.Layer, func(k *caffepb.LayerParameter) bool { return k.GetName() == l.GetName() }) {
			f.Layer = append(f.Layer, &caffepb.LayerParameter{Name: l.Name, Type: l.Type, Blobs: blobs})
		}
	}
	return f
}

// fold multiplies layers that map channels by constants (BatchNorm, Scale, Bias) into the convolutions and inner products before them, and takes them out of
// p. n is the net of p for inference, w its weights. It returns the names of the layers that are gone.
func fold(p *caffepb.NetParameter, n *swnet.Net, w weights) (gone []string) {
	for i := range n.NumLayers() {
		head := only(p, n.LayerName(i))
		channels := foldable(n, i)
		if head == nil || channels == 0 {
			continue
		}
		factor, shift := ones(channels), make([]float64, channels)
		blobs := w[head.GetName()]
		if len(blobs) > 1 {
			for o, v := range blobs[1].Data {
				shift[o] = float64(v)
			}
		}
		before := len(gone)
		for last := i; ; {
			next := reader(n, last)
			if next < 0 {
				break
			}
			m, tail := layers.TraitsOf(n.Layer(next)).Is.Map, only(p, n.LayerName(next))
			if m == nil || tail == nil || m.Channels() != channels {
				break
			}
			m.Compose(factor, shift)
			head.Top = slices.Clone(tail.Top)
			gone, last = append(gone, tail.GetName()), next
			delete(w, tail.GetName())
		}
		if len(gone) > before {
			w[head.GetName()] = scaled(head, blobs, factor, shift)
		}
	}
	p.Layer = slices.DeleteFunc(p.Layer, func(l *caffepb.LayerParameter) bool { return slices.Contains(gone, l.GetName()) })
	return gone
}

func ones(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// foldable returns the number of channels of layer i if other weights can have the effect of the layers behind it, else 0.
func foldable(n *swnet.Net, i int) int {
	if _, ok := n.Layer(i).(layers.Folder); !ok || len(n.Tops(i)) != 1 || len(n.Bottoms(i)) != 1 || shared(n.LayerParam(i)) {
		return 0
	}
	return layers.TraitsOf(n.Layer(i)).Joins.Fold
}

// shared reports whether a layer's weights may be those of other layers too.
func shared(l *caffepb.LayerParameter) bool {
	return slices.ContainsFunc(l.Param, func(p *caffepb.ParamSpec) bool { return p.GetName() != "" })
}

// only returns the layer of a name, nil if there are several, or if the layer is not in all phases.
func only(p *caffepb.NetParameter, name string) (found *caffepb.LayerParameter) {
	for _, l := range p.Layer {
		if l.GetName() != name {
			continue
		}
		if found != nil || len(l.Include)+len(l.Exclude) > 0 {
			return nil
		}
		found = l
	}
	return found
}

// reader returns the layer that reads the top of layer i, -1 if there is none. Nets have a Split before several readers.
func reader(n *swnet.Net, i int) int {
	for next := i + 1; next < n.NumLayers(); next++ {
		if slices.Contains(n.Bottoms(next), n.Tops(i)[0]) {
			if len(n.Bottoms(next)) == 1 && len(n.Tops(next)) == 1 {
				return next
			}
			return -1
		}
	}
	return -1
}

// scaled returns the weights and biases of a layer whose outputs are multiplied by factors, with other biases.
func scaled(l *caffepb.LayerParameter, blobs []*caffepb.BlobProto, factor, bias []float64) []*caffepb.BlobProto {
	out := []*caffepb.BlobProto{blobs[0], biases(bias)}
	row := len(blobs[0].Data) / len(factor)
	for i, v := range blobs[0].Data {
		out[0].Data[i] = float32(float64(v) * factor[i/row])
	}
	addBiasTerm(l)
	return out
}

// biases returns a blob of biases.
func biases(values []float64) *caffepb.BlobProto {
	b := &caffepb.BlobProto{Shape: &caffepb.BlobShape{Dim: []int64{int64(len(values))}}}
	for _, v := range values {
		b.Data = append(b.Data, float32(v))
	}
	return b
}

// addBiasTerm gives a layer biases.
func addBiasTerm(l *caffepb.LayerParameter) {
	if p := l.InnerProductParam; p != nil && p.BiasTerm != nil {
		p.BiasTerm = proto.Bool(true)
	}
	if p := l.ConvolutionParam; p != nil && p.BiasTerm != nil {
		p.BiasTerm = proto.Bool(true)
	}
}
