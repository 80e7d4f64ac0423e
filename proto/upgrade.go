package proto

import (
	"fmt"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// UpgradeNet brings a net to the current form, in place: V0 and V1 layers, SWCaffe's data layers, transformation fields in the data
// layers, inputs as fields of the net, and old BatchNorm parameters. The warnings say what was done, in the words of Caffe's
// log; path names the net in them.
func UpgradeNet(p *caffepb.NetParameter, path string) (warnings []string, err error) {
	u := newUpgrader(p, path)
	err = u.run()
	return u.warnings, err
}

// upgrader brings one net to the current form.
type upgrader struct {
	net  *caffepb.NetParameter
	path string
	// where returns file:line of a layer as it stands in the file, counted over layers of either form; or just the file.
	where func(i int) string
	// origin is, for each layer of the net, its number in the file; -1 for a layer that the upgrade made.
	origin   []int
	warnings []string
}

func newUpgrader(p *caffepb.NetParameter, path string) *upgrader {
	u := &upgrader{net: p, path: path, where: func(int) string { return path }}
	for i := range len(p.Layers) + len(p.Layer) {
		u.origin = append(u.origin, i)
	}
	return u
}

func (u *upgrader) warn(format string, args ...any) {
	u.warnings = append(u.warnings, fmt.Sprintf(format, args...))
}

// layerError names layer i of the net as it now is, and its place in the file.
func (u *upgrader) layerError(i int, name string, err error) error {
	return fmt.Errorf("%s: layer %q: %w", u.where(u.origin[i]), name, err)
}

// run applies the upgrades from the oldest form to the newest.
func (u *upgrader) run() error {
	if isV0(u.net) {
		if err := u.step("V0LayerParameter", u.fromV0); err != nil {
			return err
		}
	}
	if u.moveTransforms() {
		u.warn("Attempting to upgrade input file specified using deprecated transformation parameters: %s", u.path)
		u.warn("Successfully upgraded file specified using deprecated data transformation parameters.")
	}
	if len(u.net.Layers) > 0 {
		if err := u.step("V1LayerParameter", u.fromV1); err != nil {
			return err
		}
	}
	u.renameData()
	u.warnIgnoredTransforms()
	if len(u.net.Input) > 0 {
		if err := u.step("input fields", u.makeInputLayer); err != nil {
			return err
		}
	}
	if upgradeBatchNorm(u.net) {
		u.warn("Attempting to upgrade batch norm layers using deprecated params: %s", u.path)
		u.warn("Successfully upgraded batch norm layers using deprecated params.")
	}
	return nil
}

// step applies an upgrade between the two lines that Caffe logs around it.
func (u *upgrader) step(form string, upgrade func() error) error {
	u.warn("Attempting to upgrade input file specified using deprecated %s: %s", form, u.path)
	if err := upgrade(); err != nil {
		return err
	}
	u.warn("Successfully upgraded file specified using deprecated %s", form)
	return nil
}

// renameData makes SWCaffe's IMAGENETData layers Data layers: what they read, and their parameters, are the same.
func (u *upgrader) renameData() {
	for i, l := range u.net.Layer {
		if l.GetType() == "IMAGENETData" {
			l.Type = proto.String("Data")
			u.warn("%s: layer %q: type IMAGENETData, SWCaffe's, is now Data", u.where(u.origin[i]), l.GetName())
		}
	}
}

// makeInputLayer turns input with its input_shape or input_dim into an Input layer at the front. Inputs without any
// shape, which old weight files have, are dropped.
func (u *upgrader) makeInputLayer() error {
	p := u.net
	shapes, err := u.inputShapes()
	if err != nil {
		return fmt.Errorf("%s: %w", u.path, err)
	}
	if len(shapes) == 0 {
		u.warn("The inputs of %s have no shape and are dropped", u.path)
	} else {
		input := &caffepb.LayerParameter{
			Name: proto.String("input"), Type: proto.String("Input"), Top: p.Input,
			InputParam: &caffepb.InputParameter{Shape: shapes},
		}
		p.Layer = append([]*caffepb.LayerParameter{input}, p.Layer...)
		u.origin = append([]int{-1}, u.origin...)
	}
	p.Input, p.InputShape, p.InputDim = nil, nil, nil
	return nil
}

// inputShapes returns the shape of each input; none if the net gives no shapes. As in Caffe, input_shape goes before input_dim,
// and what is left over, as of inputs that were taken out of a file, is ignored; a warning says so.
func (u *upgrader) inputShapes() ([]*caffepb.BlobShape, error) {
	p := u.net
	shapes, given, field, each := p.InputShape, len(p.InputShape), "input_shape", 1
	if given == 0 {
		shapes, given, field, each = shapesOf(p.InputDim), len(p.InputDim), "input_dim", 4
	} else if len(p.InputDim) > 0 {
		u.warn("input_dim of %s is ignored, since input_shape is given too", u.path)
	}
	needed := each * len(p.Input)
	switch {
	case given == 0:
		return nil, nil
	case given < needed:
		return nil, fmt.Errorf("there are %d %s for %d input; each input needs %d", given, field, len(p.Input), each)
	case given > needed:
		u.warn("Only the first %d of %d %s of %s are read: %d for each input", needed, given, field, u.path, each)
	}
	return shapes[:len(p.Input)], nil
}

// shapesOf makes a shape of every four extents; what is left over makes none.
func shapesOf(dims []int32) []*caffepb.BlobShape {
	var shapes []*caffepb.BlobShape
	for ; len(dims) >= 4; dims = dims[4:] {
		shape := &caffepb.BlobShape{}
		for _, d := range dims[:4] {
			shape.Dim = append(shape.Dim, int64(d))
		}
		shapes = append(shapes, shape)
	}
	return shapes
}

// upgradeBatchNorm resets the three params by which old nets kept the solver off the statistics of BatchNorm layers;
// the layer sees to that itself.
func upgradeBatchNorm(p *caffepb.NetParameter) bool {
	done := false
	for _, l := range p.Layer {
		if l.GetType() != "BatchNorm" || len(l.Param) != 3 {
			continue
		}
		for _, spec := range l.Param {
			spec.LrMult, spec.DecayMult = proto.Float32(0), proto.Float32(0)
		}
		done = true
	}
	return done
}
