package modelplot

import (
	"fmt"
	"io"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/modeltime"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// View is a net's iteration on a modelled machine, for the page of a run.
type View struct {
	Report   *modeltime.Report `json:"report"`
	Roofline string            `json:"roofline"` // SVG
	Heatmap  string            `json:"heatmap"`  // SVG, of the pass that was asked for; "": of none
}

// Directions are the names of passes through a layer.
var Directions = map[string]shape.Direction{"forward": shape.Forward, "weights": shape.WeightGradient, "input": shape.InputGradient}

// NewView models a training net on a machine, both as prototxts. layer, if not "", is the one whose use of the mesh is drawn.
func NewView(net, machine, layer, direction string) (*View, error) {
	spec, err := cpe.Parse("the run's machine", []byte(machine))
	if err != nil {
		return nil, err
	}
	if spec.Native() {
		return nil, fmt.Errorf("machine %q is this computer, not a modelled machine", spec.Name)
	}
	file := &swproto.Net{Param: &caffepb.NetParameter{}}
	if _, err := swproto.UnmarshalText("the run's net", []byte(net), file.Param); err != nil {
		return nil, err
	}
	state := file.Param.GetState()
	if state == nil {
		state = &caffepb.NetState{}
	}
	state.Phase = caffepb.Phase_TRAIN.Enum()
	log := logrus.New()
	log.SetOutput(io.Discard)
	o := modeltime.Options{Spec: spec, Mode: cpe.CostOnly, State: state, Log: log}
	if layer != "" {
		d, ok := Directions[direction]
		if !ok {
			return nil, fmt.Errorf("%q is no direction: use forward, weights or input", direction)
		}
		o.Mesh = &modeltime.MeshOptions{Layer: layer, Direction: d}
	}
	v := &View{}
	if v.Report, err = modeltime.Run(file, o); err != nil {
		return nil, err
	}
	picture, err := Roofline(v.Report, spec, "svg")
	if err != nil {
		return nil, err
	}
	v.Roofline = string(picture)
	if v.Report.Mesh != nil {
		if picture, err = Mesh(v.Report, "svg"); err != nil {
			return nil, err
		}
		v.Heatmap = string(picture)
	}
	return v, nil
}
