package intake

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// elementwise adds a layer that computes each element by itself. A transpose stays waiting.
func (n *node) elementwise(kind string, p *caffepb.LayerParameter) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	if v.pad != nil || v.flat > 0 {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	if err := n.one(kind, p, []*value{v}); err != nil {
		return err
	}
	n.values[n.GetOutput()[0]].perm = v.perm
	return nil
}

func simple(kind string) rule {
	return func(n *node) error { return n.elementwise(kind, &caffepb.LayerParameter{}) }
}

// positive is simple for layers without negative outputs.
func positive(kind string) rule {
	return func(n *node) error {
		if err := n.elementwise(kind, &caffepb.LayerParameter{}); err != nil {
			return err
		}
		n.values[n.GetOutput()[0]].positive = true
		return nil
	}
}

func leakyRelu(n *node) error {
	return n.elementwise("ReLU", &caffepb.LayerParameter{ReluParam: &caffepb.ReLUParameter{NegativeSlope: proto.Float32(n.float("alpha", 0.01))}})
}

func elu(n *node) error {
	return n.elementwise("ELU", &caffepb.LayerParameter{EluParam: &caffepb.ELUParameter{Alpha: proto.Float32(n.float("alpha", 1))}})
}

// prelu has slopes for each channel, or one. Other slopes become products.
func prelu(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	if slopes, err := n.operand(1); err != nil {
		return err
	} else if slopes.constant == nil {
		return composed(liveSlopes)(n)
	}
	t, err := n.weight(1)
	if err != nil {
		return err
	}
	p := &caffepb.PReLUParameter{}
	switch axis, size, ok := channelOf(t.Dims, v.shape); {
	case len(t.Floats) == 1:
		p.ChannelShared = proto.Bool(true)
	case !ok || axis != 1 || size != 1:
		return composed(liveSlopes)(n)
	}
	return n.one("PReLU", &caffepb.LayerParameter{PreluParam: p}, []*value{v}, t)
}

func powerParam(power, scale, shift float32) *caffepb.LayerParameter {
	p := &caffepb.PowerParameter{}
	if power != 1 {
		p.Power = proto.Float32(power)
	}
	if scale != 1 {
		p.Scale = proto.Float32(scale)
	}
	if shift != 0 {
		p.Shift = proto.Float32(shift)
	}
	return &caffepb.LayerParameter{PowerParam: p}
}

func powerOf(power, scale, shift float32) rule {
	return func(n *node) error { return n.elementwise("Power", powerParam(power, scale, shift)) }
}

// pow is a Power layer, or an Exp layer if the base is constant.
func pow(n *node) error {
	base, err := n.operand(0)
	if err != nil {
		return err
	}
	if exponent := n.values[n.GetInput()[len(n.GetInput())-1]]; base.constant != nil && exponent != nil && exponent.constant == nil {
		return exponentialOf(n, base.constant, exponent)
	}
	t, err := n.weight(1)
	if err != nil {
		return err
	}
	if t.Count() != 1 || len(t.Dims) > len(base.dims()) {
		return fmt.Errorf("the exponent has shape %v; Caffe's Power has one exponent", t.Dims)
	}
	exponent := t.Floats
	if t.Ints != nil {
		exponent = []float32{float32(t.Ints[0])}
	}
	return n.elementwise("Power", powerParam(exponent[0], 1, 0))
}

// exponentialOf is base^x.
func exponentialOf(n *node, base *onnx.Tensor, x *value) error {
	if len(base.Floats) != 1 || len(base.Dims) > len(x.dims()) || base.Floats[0] <= 0 {
		return fmt.Errorf("the base has shape %v; Caffe's Exp has one positive base", base.Dims)
	}
	x, err := n.settle(x)
	if err != nil {
		return err
	}
	return n.one("Exp", &caffepb.LayerParameter{ExpParam: &caffepb.ExpParameter{Base: proto.Float32(base.Floats[0])}}, []*value{x})
}

func hardSigmoid(n *node) error {
	n.hiding[n.GetOpType()] = true
	p := &caffepb.HardSigmoidParameter{Alpha: proto.Float32(n.float("alpha", 0.2)), Beta: proto.Float32(n.float("beta", 0.5))}
	return n.elementwise("HardSigmoid", &caffepb.LayerParameter{HardsigmoidParam: p})
}

func clip(n *node) error {
	for k := 1; k < len(n.GetInput()); k++ {
		if v := n.values[n.GetInput()[k]]; v != nil && v.constant == nil {
			return computedClip(n)
		}
	}
	bounds := [2]float32{n.float("min", -math.MaxFloat32), n.float("max", math.MaxFloat32)}
	for k := range bounds {
		t, err := n.optional(1 + k)
		if err != nil {
			return err
		}
		if t != nil && len(t.Floats) != 1 {
			return fmt.Errorf("a bound of shape %v", t.Dims)
		}
		if t != nil {
			bounds[k] = max(-math.MaxFloat32, min(math.MaxFloat32, t.Floats[0]))
		}
	}
	bounds[0] = min(bounds[0], bounds[1]) // of crossed bounds the maximum holds in ONNX, the minimum in Caffe's layer
	v, err := n.input(0)
	if err != nil {
		return err
	}
	if v.pad != nil || v.flat > 0 {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	return n.clipTo(v, bounds[0], bounds[1])
}

// clipTo adds a Clip layer, a ReLU for the bounds 0 and none, or a ReLU6 for 0 and 6.
func (n *node) clipTo(v *value, lo, hi float32) error {
	kind, p := "Clip", &caffepb.LayerParameter{ClipParam: &caffepb.ClipParameter{Min: proto.Float32(lo), Max: proto.Float32(hi)}}
	if lo == 0 && hi == math.MaxFloat32 {
		kind, p = "ReLU", &caffepb.LayerParameter{}
	}
	if lo == 0 && hi == 6 {
		kind, p = "ReLU6", &caffepb.LayerParameter{}
	}
	if kind != "ReLU" {
		n.hiding[n.GetOpType()] = true
	}
	perm := v.perm
	if err := n.one(kind, p, []*value{v}); err != nil {
		return err
	}
	out := n.values[n.GetOutput()[0]]
	out.perm, out.positive = perm, lo >= 0
	return nil
}

func dropout(n *node) error {
	ratio := n.float("ratio", 0.5)
	if t, err := n.optional(1); err != nil {
		return err
	} else if t != nil && len(t.Floats) == 1 {
		ratio = t.Floats[0]
	}
	if t, err := n.optional(2); err != nil {
		return err
	} else if t != nil && slices.ContainsFunc(t.Ints, func(v int64) bool { return v != 0 }) && ratio != 0 {
		return fmt.Errorf("training_mode is true: it drops values at random, and Caffe's Dropout drops none in phase TEST")
	}
	p := &caffepb.LayerParameter{}
	if ratio != 0.5 {
		p.DropoutParam = &caffepb.DropoutParameter{DropoutRatio: proto.Float32(ratio)}
	}
	return n.elementwise("Dropout", p)
}

func greater(n *node) error {
	t, err := n.weight(1)
	if err != nil {
		return err
	}
	if len(t.Floats) != 1 {
		return fmt.Errorf("a threshold of shape %v; Caffe's Threshold has one", t.Dims)
	}
	return n.elementwise("Threshold", &caffepb.LayerParameter{ThresholdParam: &caffepb.ThresholdParameter{Threshold: proto.Float32(t.Floats[0])}})
}

// noteNaN says which operators' layers hide NaN.
func (t *translator) noteNaN() {
	if len(t.hiding) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("The layers of operators %s give a number for NaN, where ONNX's operators give NaN", strings.Join(slices.Sorted(maps.Keys(t.hiding)), ", ")))
	}
}
