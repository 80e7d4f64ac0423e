package box

// Partners of a box that has none: no object overlaps it enough, or it is not to be matched.
const (
	None    = -1
	Ignored = -2
)

// leastOverlap is the overlap from which on boxes count as overlapping.
const leastOverlap = 1e-6

// Matcher pairs boxes with objects.
type Matcher struct {
	// Extra also pairs every box that overlaps an object by at least Threshold, not only the best box of each object.
	Extra     bool
	Threshold float32

	pool []int
}

// Match finds the partner of each box: the index of an object, None, or Ignored where skip says so. overlaps holds the overlap of object j
// and box i at j*len(partner) + i. best receives the largest overlap of each box with any object.
//
// First every object takes a box: the pair with the largest overlap is formed, then the best pair of the rest, and so on. Of equal overlaps
// the box with the smaller index comes first, then the object with the smaller index.
func (m *Matcher) Match(partner []int, best, overlaps []float32, objects int, skip func(i int) bool) {
	n := len(partner)
	m.pool = m.pool[:0]
	for i := range partner {
		partner[i], best[i] = None, 0
		if skip != nil && skip(i) {
			partner[i] = Ignored
			continue
		}
		for j := range objects {
			if v := overlaps[j*n+i]; v > leastOverlap {
				best[i] = max(best[i], v)
			}
		}
	}
	for j := range objects {
		m.pool = append(m.pool, j)
	}
	for len(m.pool) > 0 && m.pair(partner, best, overlaps) {
	}
	if m.Extra {
		m.extra(partner, best, overlaps, objects)
	}
}

// pair forms the best pair of a box without partner and an object of the pool. It returns false if none overlap.
func (m *Matcher) pair(partner []int, best, overlaps []float32) bool {
	n, box, at := len(partner), -1, 0
	var largest float32 = leastOverlap
	for i, p := range partner {
		if p != None || !(best[i] > largest) {
			continue
		}
		for k, j := range m.pool {
			if v := overlaps[j*n+i]; v > largest {
				box, at, largest = i, k, v
			}
		}
	}
	if box < 0 {
		return false
	}
	partner[box], best[box] = m.pool[at], largest
	m.pool = append(m.pool[:at], m.pool[at+1:]...)
	return true
}

// extra gives each box without partner the object that it overlaps most, by at least the threshold.
func (m *Matcher) extra(partner []int, best, overlaps []float32, objects int) {
	n := len(partner)
	for i, p := range partner {
		if p != None {
			continue
		}
		largest := float32(leastOverlap)
		for j := range objects {
			if v := overlaps[j*n+i]; v >= m.Threshold && v > largest {
				partner[i], best[i], largest = j, v, v
			}
		}
	}
}
