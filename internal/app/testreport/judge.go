package testreport

import (
	"cmp"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	swnet "github.com/swcaffe/swcaffe/net"
)

// judge is the layer of a net that compares scores with labels: Accuracy, SegAccuracy or SoftmaxWithLoss.
type judge struct {
	name           string
	scores, labels *blob.Blob
	axis           int
	ignored        []int
	probabilities  bool // the scores come from a Softmax layer
}

// findJudge returns the layer whose labels and scores a report shows, nil if there is none. Of several it is the last one of the first of
// these kinds: SegAccuracy, Accuracy with top_k 1, any Accuracy, SoftmaxWithLoss. Auxiliary classifiers precede the main one.
func findJudge(n *swnet.Net) *judge {
	best, at := 0, 0
	for i := range n.NumLayers() {
		if rank := judges(n, i); rank > 0 && rank >= best {
			best, at = rank, i
		}
	}
	if best == 0 {
		return nil
	}
	// Blobs requested by name keep their values until the end of a pass.
	ids := n.BottomIDs(at)
	j := &judge{name: n.LayerName(at), axis: 1, scores: n.Blob(n.BlobNames()[ids[0]]), labels: n.Blob(n.BlobNames()[ids[1]])}
	j.probabilities = makerType(n, at, ids[0]) == "Softmax"
	p := n.LayerParam(at)
	axis := j.axis
	switch n.LayerType(at) {
	case "Accuracy":
		axis = int(p.GetAccuracyParam().GetAxis())
		if a := p.GetAccuracyParam(); a != nil && a.IgnoreLabel != nil {
			j.ignored = []int{int(a.GetIgnoreLabel())}
		}
	case "SegAccuracy":
		for _, l := range p.GetSegAccuracyParam().GetIgnoreLabel() {
			j.ignored = append(j.ignored, int(l))
		}
	case "SoftmaxWithLoss":
		axis = int(p.GetSoftmaxParam().GetAxis())
		if l := p.GetLossParam(); l != nil && l.IgnoreLabel != nil {
			j.ignored = []int{int(l.GetIgnoreLabel())}
		}
	}
	if j.axis = axis; axis < 0 {
		j.axis += j.scores.NumAxes()
	}
	return j
}

// judges returns how well layer i's labels and scores suit a report; 0: it has none.
func judges(n *swnet.Net, i int) int {
	switch n.LayerType(i) {
	case "SegAccuracy":
		return 4
	case "Accuracy":
		if n.LayerParam(i).GetAccuracyParam().GetTopK() <= 1 {
			return 3
		}
		return 2
	case "SoftmaxWithLoss":
		return 1
	}
	return 0
}

// makerType returns the type of the layer before layer i that wrote a blob. Split layers copy and do not count.
func makerType(n *swnet.Net, i, id int) string {
	for i--; i >= 0; i-- {
		if !slices.Contains(n.TopIDs(i), id) {
			continue
		}
		if n.LayerType(i) != "Split" {
			return n.LayerType(i)
		}
		id = n.BottomIDs(i)[0]
	}
	return ""
}

// extents returns the shape of the scores as images x classes x places. Places are an image's pixels in a segmentation.
func (j *judge) extents() (images, classes, places int) {
	classes, places = j.scores.Dim(j.axis), j.scores.CountFrom(j.axis+1)
	return j.scores.Count() / max(1, classes*places), classes, places
}

// at returns the scores of all classes at a place of an image.
func (j *judge) at(image, place int, to []float64) []float64 {
	_, classes, places := j.extents()
	to = to[:0]
	for c := range classes {
		to = append(to, float64(j.scores.Data()[(image*classes+c)*places+place]))
	}
	return to
}

// label returns the label at a place of an image. It is not ok if the layer ignores the label.
func (j *judge) label(image, place int) (label int, ok bool) {
	_, _, places := j.extents()
	label = int(j.labels.Data()[image*places+place])
	return label, !slices.Contains(j.ignored, label)
}

// predicted returns the class of the largest score, the first of equal ones. As for Accuracy, a label whose score another class shares is
// an error; then it returns the other class.
func predicted(scores []float64, label int) int {
	best := 0
	for c, s := range scores {
		if s > scores[best] || s == scores[best] && best == label && c != label {
			best = c
		}
	}
	return best
}

// guess is a class with its probability.
type guess struct {
	class       int
	probability float64
}

// guesses returns the classes by falling probability, after a softmax of the scores unless they are probabilities.
func (j *judge) guesses(scores []float64) []guess {
	all := make([]guess, len(scores))
	top, sum := math.Inf(-1), 0.0
	for _, s := range scores {
		top = max(top, s)
	}
	for c, s := range scores {
		p := s
		if !j.probabilities {
			p = math.Exp(s - top)
		}
		all[c] = guess{c, p}
		sum += p
	}
	if !j.probabilities {
		for c := range all {
			all[c].probability /= sum
		}
	}
	slices.SortStableFunc(all, func(a, b guess) int { return cmp.Compare(b.probability, a.probability) })
	return all
}
