package layers

import "github.com/swcaffe/swcaffe/proto/caffepb"

// EffectRule returns what Forward and Backward of a layer read or change besides bottoms, weights and tops, to follow the layer's name: "draws ...".
// It returns "" if there is nothing, and weights do not change either: a second run then gives the same values, so that a program may run the layer
// again in place of keeping its results.
type EffectRule func(p *caffepb.LayerParameter) string

// Effect returns what a layer of this type, with its phase, reads or changes besides bottoms, weights and tops; "" if nothing.
func (t Type) Effect(p *caffepb.LayerParameter) string {
	if t.Effects == nil {
		return ""
	}
	return t.Effects(p)
}

// Effect is the rule of layers that have an effect whatever their parameters are.
func Effect(what string) EffectRule {
	return func(*caffepb.LayerParameter) string { return what }
}

// EffectInTraining is the rule of layers that have an effect in phase TRAIN alone.
func EffectInTraining(what string) EffectRule {
	return func(p *caffepb.LayerParameter) string {
		if p.GetPhase() != caffepb.Phase_TRAIN {
			return ""
		}
		return what
	}
}

// Draws is the effect of layers that draw random numbers in phase TRAIN.
var Draws = EffectInTraining("draws other random numbers in every pass")

// NextBatch is the effect of layers that read data.
var NextBatch = Effect("hands out the next batch in every pass")
