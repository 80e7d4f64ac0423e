package serve

import (
	"math"
	"net/http"
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/predict"
)

// port is an input or output as the protocol's metadata has it.
type port struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"` // -1: any extent
}

// describe makes the descriptions of inputs and outputs.
func (v *version) describe() error {
	inputs, outputs, err := v.model.Extents()
	if err != nil {
		return err
	}
	v.inputs, v.outputs = v.ports(inputs), v.ports(outputs)
	return nil
}

// ports describes inputs or outputs. A detection layer's rows are axis 2.
func (v *version) ports(of []predict.Port) []port {
	list := []port{}
	for _, p := range of {
		shape := slices.Clone(p.Shape)
		if p.Name == v.model.Detector() && len(shape) == 4 {
			shape[2] = predict.AnyExtent
		}
		list = append(list, port{p.Name, "FP32", shape})
	}
	return list
}

// arrange puts tensors into the order of the net's inputs and checks them. It returns the number of items: the extent of axis 0, which all have if the items of several requests may
// share a run; else that of the first input, and planning the run tells whether the others fit.
func (v *version) arrange(given []tensor) ([]predict.Array, int, error) {
	ports := v.model.Inputs()
	arrays := make([]predict.Array, len(ports))
	for _, t := range given {
		k := slices.IndexFunc(ports, func(p predict.Port) bool { return p.Name == t.name })
		if k < 0 {
			return nil, 0, &failure{http.StatusBadRequest, suggest.Unknown("input", t.name, "inputs", names(ports))}
		}
		if arrays[k].Name != "" {
			return nil, 0, badf("input %q is given twice", t.name)
		}
		if err := v.check(k, t); err != nil {
			return nil, 0, err
		}
		arrays[k] = predict.Array{Name: t.name, Shape: t.shape, Values: t.values}
	}
	for k := range arrays {
		if arrays[k].Name == "" {
			return nil, 0, badf("input %q is missing; model %q has the inputs %v", ports[k].Name, v.name, names(ports))
		}
	}
	items := itemsOf(arrays[0])
	for _, a := range arrays {
		if n := itemsOf(a); v.joins && n != items {
			return nil, 0, badf("input %q has %d items on axis 0, input %q has %d", a.Name, n, arrays[0].Name, items)
		}
	}
	if most := v.most(); items > most {
		return nil, 0, badf("%d items in a request; model %q takes at most %d at once", items, v.name, most)
	}
	return arrays, items, nil
}

// itemsOf returns the extent of an input's axis 0.
func itemsOf(a predict.Array) int {
	if len(a.Shape) == 0 {
		return 1
	}
	return a.Shape[0]
}

// most returns the most items of a request. Those that may share runs are run in several, and of a net with several inputs that do not, axis 0 may be something else than items: there the
// size of a body is the limit. The prototxt's own shape is always taken.
func (v *version) most() int {
	inputs := v.model.Inputs()
	if v.joins || len(inputs) > 1 {
		return math.MaxInt
	}
	if s := inputs[0].Shape; len(s) > 0 {
		return max(v.batch, s[0])
	}
	return v.batch
}

// check compares a tensor with input k.
func (v *version) check(k int, t tensor) error {
	p := v.model.Inputs()[k]
	wrong := len(t.shape) != len(p.Shape)
	for axis := 1; axis < len(p.Shape) && !wrong; axis++ {
		wrong = t.shape[axis] != p.Shape[axis]
	}
	if wrong {
		return badf("input %q has shape %v, model %q takes %v", t.name, t.shape, v.name, v.inputs[k].Shape)
	}
	if len(t.shape) > 0 && t.shape[0] < 1 {
		return badf("input %q has shape %v: at least one item is needed on axis 0", t.name, t.shape)
	}
	return nil
}

func names(ports []predict.Port) (list []string) {
	for _, p := range ports {
		list = append(list, p.Name)
	}
	return list
}
