package net

import (
	"errors"
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// precisionOf returns the precision of a layer's products: its own, or that of the machine's user, or that of the net p, or FP32. Its own must be possible. The others
// are wishes for layers that can.
func (n *Net) precisionOf(d *node, p *caffepb.NetParameter) (string, error) {
	if d.param.Precision != nil {
		own := strings.ToLower(d.param.GetPrecision().String())
		if err := n.cannot(d, own); err != nil {
			return "", fmt.Errorf("precision: %v: %w", d.param.GetPrecision(), err)
		}
		if own == cpe.INT8 && !n.infers() {
			own = cpe.FP32 // the net is trained, and then quantised
		}
		return own, nil
	}
	wish := n.asked
	if wish == "" {
		wish = strings.ToLower(p.GetPrecision().String())
	}
	if n.cannot(d, wish) != nil || wish == cpe.INT8 && !n.infers() {
		return cpe.FP32, nil
	}
	return wish, nil
}

// cannot returns nil, or the reason why a layer cannot compute in a precision.
func (n *Net) cannot(d *node, precision string) error {
	spec := n.opt.Device.Machine.Spec()
	if err := spec.Computes(precision); err != nil {
		return err
	}
	switch {
	case !d.kind.Computes(precision):
		return fmt.Errorf("layers of this type compute in %s", strings.Join(append([]string{cpe.FP32}, without(d.kind.Precisions, cpe.FP32)...), " and "))
	case precision == cpe.INT8 && d.param.QuantizationParam == nil:
		return errors.New("it needs a quantization_param, which `swcaffe quantize` measures and writes")
	}
	return nil
}

func without(list []string, name string) (rest []string) {
	for _, s := range list {
		if s != name {
			rest = append(rest, s)
		}
	}
	return rest
}

// infers reports whether the net is one in which layers compute in INT8: for testing, or one that never runs Backward.
func (n *Net) infers() bool { return n.opt.ForwardOnly || n.opt.State.GetPhase() == caffepb.Phase_TEST }

// deviceFor returns the device of a layer, which has the layer's precision: the net's own if its products are the same there.
func (n *Net) deviceFor(d *node, p *caffepb.NetParameter) (*layers.Device, error) {
	var err error
	if d.precision, err = n.precisionOf(d, p); err != nil {
		return nil, err
	}
	if n.devices[d.precision] == nil {
		own := *n.opt.Device
		if own.Precision = d.precision; own.Types() == n.opt.Device.Types() && d.precision != cpe.INT8 {
			n.devices[d.precision] = n.opt.Device
		} else {
			n.devices[d.precision] = &own
		}
	}
	return n.devices[d.precision], nil
}

// checkPrecision returns an error if the machine's user asks for INT8 and no layer computes in it. It warns of a net whose own precision the machine lacks.
func (n *Net) checkPrecision(p *caffepb.NetParameter) error {
	own, spec := strings.ToLower(p.GetPrecision().String()), n.opt.Device.Machine.Spec()
	if err := spec.Computes(own); err != nil && n.asked == "" {
		n.log.Warnf("precision: %v has no effect: %v", p.GetPrecision(), err)
	}
	if n.asked != cpe.INT8 || n.devices[cpe.INT8] != nil {
		return nil
	}
	if !n.infers() {
		return errors.New("precision int8 is for nets that never run Backward and for phase TEST; train in fp32 or bf16")
	}
	return errors.New("precision int8: no layer has a quantization_param; `swcaffe quantize` measures scales and writes a net that has them")
}
