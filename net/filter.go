package net

import (
	"errors"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Filter returns the net without the layers that state excludes. A layer with include rules stays if one of them matches; a layer with
// exclude rules stays if none does. origin[i] is the index in p of layer i of the result.
func Filter(p *caffepb.NetParameter, state *caffepb.NetState) (filtered *caffepb.NetParameter, origin []int, err error) {
	layers := p.Layer
	p.Layer = nil
	filtered = proto.CloneOf(p)
	p.Layer = layers
	for i, l := range layers {
		if len(l.Include) > 0 && len(l.Exclude) > 0 {
			return nil, nil, &LayerError{Index: i, Layer: l.GetName(), Err: errors.New("specify either include rules or exclude rules; not both")}
		}
		meets := func(r *caffepb.NetStateRule) bool { return meetsRule(state, r) }
		keep := !slices.ContainsFunc(l.Exclude, meets)
		if len(l.Include) > 0 {
			keep = slices.ContainsFunc(l.Include, meets)
		}
		if keep {
			filtered.Layer = append(filtered.Layer, proto.CloneOf(l))
			origin = append(origin, i)
		}
	}
	return filtered, origin, nil
}

// meetsRule reports whether a state matches a rule: phase is equal, if given; level is between min_level and max_level; the state has every
// stage and no not_stage.
func meetsRule(state *caffepb.NetState, r *caffepb.NetStateRule) bool {
	switch {
	case r.Phase != nil && r.GetPhase() != state.GetPhase(),
		r.MinLevel != nil && state.GetLevel() < r.GetMinLevel(),
		r.MaxLevel != nil && state.GetLevel() > r.GetMaxLevel():
		return false
	}
	for _, s := range r.Stage {
		if !slices.Contains(state.Stage, s) {
			return false
		}
	}
	for _, s := range r.NotStage {
		if slices.Contains(state.Stage, s) {
			return false
		}
	}
	return true
}

// MergeState returns a state of a phase, with the fields of others copied over it in turn. Stages are appended.
func MergeState(phase caffepb.Phase, others ...*caffepb.NetState) *caffepb.NetState {
	s := &caffepb.NetState{Phase: phase.Enum()}
	for _, o := range others {
		if o != nil {
			proto.Merge(s, o)
		}
	}
	return s
}
