package net

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// checkTypes reports every unregistered layer type, at the first layer of that type. For origin and pos see locate.
func checkTypes(p *caffepb.NetParameter, origin []int, pos func(int) string) error {
	of := map[string][]int{} // the layers of each unknown type
	var unknown []string
	for i, l := range p.Layer {
		t := l.GetType()
		if _, err := layers.Find(t); err != nil {
			if of[t] == nil {
				unknown = append(unknown, t)
			}
			of[t] = append(of[t], i)
		}
	}
	var errs []error
	for _, t := range unknown {
		_, err := layers.Find(t)
		if note := pythonNote(p.Layer[of[t][0]]); note != "" {
			err = fmt.Errorf("%w%s", err, note)
		}
		if more := len(of[t]) - 1; more > 0 {
			err = fmt.Errorf("%w (%d more of this type)", err, more)
		}
		first := of[t][0]
		errs = append(errs, locate(&LayerError{Index: first, Layer: p.Layer[first].GetName(), Type: t, Err: err}, pos, origin))
	}
	return errors.Join(errs...)
}

// pythonNote names the layer of ours that computes what a public Python layer does.
func pythonNote(l *caffepb.LayerParameter) string {
	if l.GetType() == "Python" && l.GetPythonParam().GetModule() == "rpn.proposal_layer" {
		return ". A layer of type \"Proposal\", with these bottoms and tops, computes what rpn.proposal_layer does"
	}
	return ""
}
