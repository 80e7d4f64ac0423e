package proto

import (
	"fmt"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// UpgradeNet upgrades a net to the current form, in place: V0 and V1 layers, SWCaffe's data layers, transformation fields in data
// layers, inputs as fields of the net, and old BatchNorm parameters. The warnings report the changes in the words of Caffe's log;
// path is the net's name in them.
func UpgradeNet(p *caffepb.NetParameter, path string) (warnings []string, err error) {
	u := newUpgrader(p, path)
	err = u.run()
	return u.warnings, err
}

// upgradeWeights is UpgradeNet for the names, types and blobs of a net's layers.
func upgradeWeights(p *caffepb.NetParameter, path string) (warnings []string, err error) {
	u := newUpgrader(p, path)
	if isV0(p) {
		err = u.step("V0LayerParameter", u.unwrapV0)
	}
	if err == nil && len(p.Layers) > 0 {
		err = u.step("V1LayerParameter", u.fromV1)
	}
	return u.warnings, err
}

// unwrapV0 gives every V1 layer the name, type and blobs of the V0 layer inside it.
func (u *upgrader) unwrapV0() error {
	for _, l := range u.net.Layers {
		if old := l.Layer; old != nil {
			l.Layer, l.Name, l.Blobs = nil, old.Name, old.Blobs
			if typ, ok := v0Types[old.GetType()]; ok {
				l.Type = typ.Enum()
			}
		}
	}
	return nil
}

// upgrader upgrades one net to the current form.
type upgrader struct {
	net  *caffepb.NetParameter
	path string
	// pos returns file:line of a field of the file, or the file's name alone.
	pos  func(field string) string
	list string // the field that holds the layers in the file
	// origin is the index in the file of each layer of the net; -1 for a layer added by the upgrade.
	origin   []int
	warnings []string
}

func newUpgrader(p *caffepb.NetParameter, path string) *upgrader {
	u := &upgrader{net: p, path: path, pos: func(string) string { return path }}
	for i := range len(p.Layers) + len(p.Layer) {
		u.origin = append(u.origin, i)
	}
	return u
}

// where returns file:line of a layer of the file, or the file's name alone.
func (u *upgrader) where(i int) string { return u.pos(fmt.Sprintf("%s[%d]", u.list, i)) }

func (u *upgrader) warn(format string, args ...any) {
	u.warnings = append(u.warnings, fmt.Sprintf(format, args...))
}

// layerError adds the name and the position of layer i of the current net to an error.
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
	u.countUnlabelled()
	return nil
}

// step applies an upgrade, between the two lines that Caffe logs before and after it.
func (u *upgrader) step(form string, upgrade func() error) error {
	u.warn("Attempting to upgrade input file specified using deprecated %s: %s", form, u.path)
	if err := upgrade(); err != nil {
		return err
	}
	u.warn("Successfully upgraded file specified using deprecated %s", form)
	return nil
}

// renameData turns SWCaffe's IMAGENETData layers into Data layers, which have the same input and parameters.
func (u *upgrader) renameData() {
	for i, l := range u.net.Layer {
		if l.GetType() == "IMAGENETData" {
			l.Type = proto.String("Data")
			u.warn("%s: layer %q: type IMAGENETData, SWCaffe's, is now Data", u.where(u.origin[i]), l.GetName())
		}
	}
}

// makeInputLayer replaces input and its input_shape or input_dim by an Input layer at the front. Inputs without shapes, as in old
// weight files, are dropped.
func (u *upgrader) makeInputLayer() error {
	p := u.net
	shapes, err := u.inputShapes()
	if err != nil {
		return err
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

// inputShapes returns the shape of each input, or none if the net gives no shapes. As in Caffe, input_shape has priority over
// input_dim. Surplus shapes are ignored with a warning, for example of inputs that a user has deleted.
func (u *upgrader) inputShapes() ([]*caffepb.BlobShape, error) {
	p := u.net
	shapes, given, field, first, each := p.InputShape, len(p.InputShape), "input_shape", "input_shape[0]", 1
	if given == 0 {
		shapes, given, field, first, each = shapesOf(p.InputDim), len(p.InputDim), "input_dim", "input_dim", 4
	} else if len(p.InputDim) > 0 {
		u.warn("input_dim of %s is ignored, since input_shape is given too", u.path)
	}
	needed := each * len(p.Input)
	switch {
	case given == 0:
		return nil, nil
	case given < needed:
		return nil, fmt.Errorf("%s: there are %d %s for %d input; each input needs %d", u.pos(first), given, field, len(p.Input), each)
	case given > needed:
		u.warn("Only the first %d of %d %s of %s are read: %d for each input", needed, given, field, u.path, each)
	}
	return shapes[:len(p.Input)], nil
}

// shapesOf makes one shape of every four extents, and ignores a remainder.
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

// upgradeBatchNorm clears the three params with which old nets excluded the statistics of BatchNorm layers from training. The
// layer now excludes them itself. It reports whether one of them was trained or decayed before.
func upgradeBatchNorm(p *caffepb.NetParameter) bool {
	done := false
	for _, l := range p.Layer {
		if l.GetType() != "BatchNorm" || len(l.Param) != 3 {
			continue
		}
		for _, spec := range l.Param {
			done = done || spec.GetLrMult() != 0 || spec.GetDecayMult() != 0
			spec.LrMult, spec.DecayMult = proto.Float32(0), proto.Float32(0)
		}
	}
	return done
}

// countUnlabelled lets the Accuracy layers of SegNet's nets meet pixels without a class. The loss of these nets ignores the label that
// follows those of the classes. Their Accuracy layers do not ignore it, and count its items as wrong.
func (u *upgrader) countUnlabelled() {
	unlabelled := map[string]int32{} // by label blob
	for _, l := range u.net.Layer {
		p := l.GetLossParam()
		if l.GetType() != "SoftmaxWithLoss" || len(l.Bottom) != 2 || !p.GetWeightByLabelFreqs() || p.IgnoreLabel == nil {
			continue
		}
		if label := p.GetIgnoreLabel(); label < 0 || int(label) >= len(p.GetClassWeighting()) {
			unlabelled[l.Bottom[1]] = label
		}
	}
	for i, l := range u.net.Layer {
		if l.GetType() != "Accuracy" || len(l.Bottom) != 2 {
			continue
		}
		p := l.GetAccuracyParam()
		label, found := unlabelled[l.Bottom[1]]
		if !found || p != nil && (p.IgnoreLabel != nil || p.WrongLabel != nil) {
			continue
		}
		if p == nil {
			p = &caffepb.AccuracyParameter{}
			l.AccuracyParam = p
		}
		p.WrongLabel = proto.Int32(label)
		u.warn("%s: layer %q: items of label %d, which the loss ignores, count as wrong, as in SegNet; accuracy_param { ignore_label: %d } leaves them out",
			u.where(u.origin[i]), l.GetName(), label, label)
	}
}
