package layers

import "github.com/swcaffe/swcaffe/proto/caffepb"

// Coupling says what becomes of the items of a batch in a layer. They lie along axis 0 of its bottoms. What workers and core groups compute
// that share a batch depends on it.
type Coupling struct {
	Kind CouplingKind
	Why  string // for Differs and Moves: what the layer does, to follow its name: "takes ..."
}

// CouplingKind is the effect of a layer on items.
type CouplingKind int

const (
	// Apart: every item of a top is computed from the same item of the bottoms alone; or the top is a single value, the mean over the items.
	Apart CouplingKind = iota
	// Rows: a top has rows that name their item, or counts of a test. Every share of a batch works alone.
	Rows
	// Differs: the results depend on all items of the share, so that those of several workers differ from one worker's in a way that trains as well.
	Differs
	// Moves: items change places or meet, or weights have a shape that depends on the batch. Several workers would train another net.
	Moves
	// NoItems: the tops are the same for every batch.
	NoItems
)

// CouplingRule returns a layer's coupling for the shapes of its bottoms, nil for one without items. A Type without a rule keeps items apart.
type CouplingRule func(p *caffepb.LayerParameter, bottoms [][]int) Coupling

// Coupling returns what a layer of this type does with the items of a batch.
func (t Type) Coupling(p *caffepb.LayerParameter, bottoms [][]int) Coupling {
	if t.Couples == nil {
		return Coupling{}
	}
	return t.Couples(p, bottoms)
}

// SumOverItems is the coupling of a loss that is not divided by the number of items.
var SumOverItems = Coupling{Differs, "adds up the losses of each worker's items without dividing by their number, so that the gradient is that of one worker divided by the number of workers"}

// Always is the rule of layers that couple items whatever their parameters are.
func Always(kind CouplingKind, why string) CouplingRule {
	return func(*caffepb.LayerParameter, [][]int) Coupling { return Coupling{kind, why} }
}

// InTraining is the rule of layers whose results depend on all items of the share in phase TRAIN alone.
func InTraining(why string) CouplingRule {
	return func(p *caffepb.LayerParameter, _ [][]int) Coupling {
		if p.GetPhase() != caffepb.Phase_TRAIN {
			return Coupling{}
		}
		return Coupling{Differs, why}
	}
}

// OnAxis0 is the rule of layers that move or mix items if the axis that they work on is axis 0.
func OnAxis0(axis func(p *caffepb.LayerParameter) int32, why string) CouplingRule {
	return func(p *caffepb.LayerParameter, bottoms [][]int) Coupling {
		if a := int(axis(p)); a == 0 || len(bottoms) > 0 && a == -len(bottoms[0]) {
			return Coupling{Moves, why}
		}
		return Coupling{}
	}
}

// overTime is what layers do whose axis 0 is time.
const overTime = "takes axis 0 for time, of which each worker would get a part"

// OverTime is the rule of layers whose bottoms have time steps on axis 0 and items on axis 1.
var OverTime = Always(Moves, overTime)
