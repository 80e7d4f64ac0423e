package topology

// newHierarchical plans an all-reduce on two levels. Recursive halving inside groups of g ranks of one supernode leaves each member with a
// shard. The members of all groups with the same shard reduce it by halving and doubling. Recursive doubling inside the groups distributes
// the shards. g is the largest power of two that fits the smallest supernode. A supernode has as many groups as fit; its remaining ranks are
// folded into others of the same supernode.
func newHierarchical(l Layout, n int) *Schedule {
	ranks := l.Ranks()
	supernodes := l.groups(identity(ranks))
	smallest := ranks
	for _, s := range supernodes {
		smallest = min(smallest, len(s))
	}
	g, log := powerBelow(smallest)
	f := emptyFold(ranks)
	for _, s := range supernodes {
		whole := len(s) / g * g
		f.stay = append(f.stay, s[:whole]...)
		for i, extra := range s[whole:] {
			f.pair(extra, s[i])
		}
	}
	f.number()

	groups := len(f.stay) / g
	across := newFold(identity(groups))
	_, acrossLog := powerBelow(groups)
	acrossRounds := across.rounds(2 * acrossLog)
	all := Range{0, n}
	inside := halving{log, all}
	exchange := func(id, round int) Step {
		group, member := id/g, id%g
		var s Step
		switch {
		case round < log:
			s = inside.scatter(member, round)
		case round >= log+acrossRounds:
			s = inside.gather(member, round-log-acrossRounds)
		default:
			shard := all.split(member, g)
			s = across.step(group, round-log, 2*acrossLog, shard, halving{acrossLog, shard}.step)
			return s.renumber(func(peer int) int { return peer*g + member })
		}
		return s.renumber(func(peer int) int { return group*g + peer })
	}
	inner := 2*log + acrossRounds
	return &Schedule{Ranks: ranks, Elements: n, Rounds: f.rounds(inner), Segments: len(f.stay), step: func(rank, round int) Step {
		return f.step(rank, round, inner, all, exchange)
	}}
}
