package detect

import (
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// mining selects the examples whose confidences count. MAX_NEGATIVE takes, of an image's priors without partner that overlap no object by
// neg_overlap, those with the largest loss: neg_pos_ratio for each pair. HARD_EXAMPLE takes the sample_size priors with the largest sum of
// both losses, with or without partner; pairs that are not taken are dissolved.
type mining struct {
	p          *caffepb.MultiBoxLossParameter
	seen       []bool    // images with objects
	candidates [][]int32 // of each image
	pairs      []int     // of each image
	examples   []example
	order      []int
	taken      []bool
	suppressor box.Suppressor
}

// example is a prior that mining may select.
type example struct {
	loss  float32
	prior int
}

// reset forgets the last batch. It returns the label of priors without partner if there is no mining.
func (m *mining) reset(p *caffepb.MultiBoxLossParameter, images int) (unmatched float32) {
	m.p = p
	if len(m.seen) != images {
		m.seen, m.pairs, m.candidates = make([]bool, images), make([]int, images), make([][]int32, images)
	}
	clear(m.seen)
	clear(m.pairs)
	for i := range m.candidates {
		m.candidates[i] = m.candidates[i][:0]
	}
	if p.GetMiningType() == caffepb.MultiBoxLossParameter_NONE && p.GetConfLossType() == caffepb.MultiBoxLossParameter_LOGISTIC {
		return noClass
	}
	return float32(p.GetBackgroundLabelId())
}

// note lists an image's candidates.
func (m *mining) note(image int, partner []int, best []float32) {
	m.seen[image] = true
	for i, j := range partner {
		if j >= 0 {
			m.pairs[image]++
		}
		if m.p.GetMiningType() == caffepb.MultiBoxLossParameter_HARD_EXAMPLE || j == box.None && best[i] < m.p.GetNegOverlap() {
			m.candidates[image] = append(m.candidates[image], int32(i))
		}
	}
}

// selectExamples leaves the labels of selected examples, and sets the others' to unused.
func (l *multiBoxLoss) selectExamples(prior, codes, decoded []float32) {
	m, hard := &l.mine, l.p.GetMiningType() == caffepb.MultiBoxLossParameter_HARD_EXAMPLE
	if len(m.taken) != l.priors {
		m.taken = make([]bool, l.priors)
	}
	labels, losses := l.conf.labels.Data(), l.conf.losses.Data()
	kept, next := l.match.pairs[:0], 0
	for image := range l.images {
		pairs := l.match.pairs[next:]
		for len(pairs) > 0 && pairs[len(pairs)-1].image != image {
			pairs = pairs[:len(pairs)-1]
		}
		next += len(pairs)
		own, loss := labels[image*l.priors:][:l.priors], losses[image*l.priors:][:l.priors]
		m.list(image, loss)
		if hard {
			l.addLocalization(pairs, codes)
		}
		boxes := boxList{prior, 1, false}
		if !l.p.GetUsePriorForNms() {
			boxes = boxList{decoded, 1, true}
		}
		m.choose(l.suppresses(), m.limit(image, hard), func(i int) box.Box {
			p := boxes.piece(image, 0, l.priors, i, 1)
			return box.Of(p.Array[p.At:])
		})
		background := float32(l.p.GetBackgroundLabelId())
		for i := range own {
			if !m.taken[i] && (hard || own[i] == background) {
				own[i] = unused
			}
		}
		for _, p := range pairs {
			if !hard || m.taken[p.prior] {
				kept = append(kept, p)
			} else {
				l.loc.drop(p)
			}
		}
	}
	l.match.pairs = kept
}

// list lists an image's candidates with their losses.
func (m *mining) list(image int, loss []float32) {
	m.examples = m.examples[:0]
	for _, i := range m.candidates[image] {
		m.examples = append(m.examples, example{loss[i], int(i)})
	}
}

// addLocalization adds the losses of an image's pairs to its candidates, which are all priors.
func (l *multiBoxLoss) addLocalization(pairs []pair, codes []float32) {
	for _, p := range pairs {
		l.mine.examples[p.prior].loss += float32(l.loc.lossOf(p, codes))
	}
}

// limit returns the largest number of examples of an image.
func (m *mining) limit(image int, hard bool) int {
	if hard {
		return int(m.p.GetSampleSize())
	}
	if m.pairs[image] == 0 { // also with an infinite ratio
		return 0
	}
	return int(min(float32(m.pairs[image])*m.p.GetNegPosRatio(), float32(len(m.examples))))
}

// choose marks at most n examples of those listed, the largest losses first.
func (m *mining) choose(suppress bool, n int, boxOf func(i int) box.Box) {
	clear(m.taken)
	slices.SortFunc(m.examples, byLoss)
	m.order = m.order[:0]
	for _, e := range m.examples {
		m.order = append(m.order, e.prior)
	}
	order := m.order
	if suppress {
		p := m.p.GetNmsParam()
		if p.TopK != nil && p.GetTopK() >= 0 {
			order = order[:min(len(order), int(p.GetTopK()))]
		}
		m.suppressor.Threshold, m.suppressor.Eta, m.suppressor.Least = p.GetNmsThreshold(), 1, leastSize
		order = m.suppressor.Suppress(order, boxOf)
	}
	for _, i := range order[:min(n, len(order))] {
		m.taken[i] = true
	}
}

// leastSize is the area from which on a box takes part in mining with suppression.
const leastSize = 1e-5
