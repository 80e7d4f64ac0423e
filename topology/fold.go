package topology

// fold reduces any number of ranks to a power of two, for exchanges that need one, as in R. Thakur, R. Rabenseifner, W. Gropp, "Optimization
// of Collective Communication Operations in MPICH", 2005, section 4. An extra rank sends its array to a partner, sits out, and receives the
// result at the end.
type fold struct {
	partner []int // partner of each rank that has an extra or is one; None otherwise
	extra   []bool
	folded  bool  // whether there are extras
	ids     []int // index in stay of each rank that stays; None for extras
	stay    []int
}

// newFold pairs neighbours in the given order: every other one of the first 2*(p - 2^k) ranks is an extra.
func newFold(order []int) *fold {
	p := len(order)
	power, _ := powerBelow(p)
	f := emptyFold(p)
	for i, rank := range order {
		if i < 2*(p-power) && i%2 == 0 {
			f.pair(rank, order[i+1])
			continue
		}
		f.stay = append(f.stay, rank)
	}
	f.number()
	return f
}

func emptyFold(ranks int) *fold {
	f := &fold{partner: make([]int, ranks), extra: make([]bool, ranks), ids: make([]int, ranks)}
	for r := range ranks {
		f.partner[r], f.ids[r] = None, None
	}
	return f
}

func (f *fold) pair(extra, partner int) {
	f.partner[extra], f.partner[partner], f.extra[extra], f.folded = partner, extra, true, true
}

// number computes ids from stay.
func (f *fold) number() {
	for id, rank := range f.stay {
		f.ids[rank] = id
	}
}

// rounds returns the number of rounds of an exchange of inner rounds with the fold around it.
func (f *fold) rounds(inner int) int {
	if f.folded {
		return inner + 2
	}
	return inner
}

// step returns a rank's step in the fold, or in the exchange between the ranks that stay. exchange takes an index in stay and returns a step
// whose peers are indices in stay.
func (f *fold) step(rank, round, inner int, all Range, exchange func(id, round int) Step) Step {
	if f.folded {
		switch round {
		case 0:
			return f.before(rank, all)
		case inner + 1:
			return f.after(rank, all)
		}
		round--
	}
	if f.ids[rank] == None {
		return idle
	}
	return exchange(f.ids[rank], round).renumber(func(id int) int { return f.stay[id] })
}

func (f *fold) before(rank int, all Range) Step {
	switch {
	case f.extra[rank]:
		return Step{To: f.partner[rank], From: None, Send: all}
	case f.partner[rank] != None:
		return Step{To: None, From: f.partner[rank], Recv: all, Reduce: true}
	}
	return idle
}

func (f *fold) after(rank int, all Range) Step {
	switch {
	case f.extra[rank]:
		return Step{To: None, From: f.partner[rank], Recv: all}
	case f.partner[rank] != None:
		return Step{To: f.partner[rank], From: None, Send: all}
	}
	return idle
}
