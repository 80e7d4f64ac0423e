package topology

// newRecursiveDoubling plans exchanges of whole arrays: in round k each rank exchanges its partial sum with the rank at distance 2^k, and
// both add. Ranks beyond a power of two are folded in.
func newRecursiveDoubling(l Layout, n int) *Schedule {
	f := newFold(identity(l.Ranks()))
	_, inner := powerBelow(l.Ranks())
	all := Range{0, n}
	exchange := func(id, round int) Step {
		peer := id ^ 1<<round
		return Step{To: peer, From: peer, Send: all, Recv: all, Reduce: true}
	}
	return &Schedule{Ranks: l.Ranks(), Elements: n, Rounds: f.rounds(inner), Segments: 1, step: func(rank, round int) Step {
		return f.step(rank, round, inner, all, exchange)
	}}
}
