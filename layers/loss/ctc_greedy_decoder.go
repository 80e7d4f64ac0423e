package loss

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "CTCGreedyDecoder", Doc: "the labels that the best classes of all time steps stand for; further tops get scores and, with labels, an accuracy",
		Couples: layers.OverTime,
		Params:  []string{"ctc_decoder_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &ctcGreedyDecoder{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Between(2, 3), Tops: layers.Between(1, 3), NoGradient: true,
	})
}

// ctcGreedyDecoder is the CTCGreedyDecoder layer of forks for sequences (Graves et al. 2006). Bottom 0 has probabilities of time steps x items x
// classes, bottom 1 marks of time steps x items: a 0 after the first step ends the item's sequence before that step. The best class of each
// step gives a label; repetitions count once unless ctc_merge_repeated is false, and blanks are dropped. Top 0, of time steps x items x 1 x 1,
// holds the labels and then -1.
//
// With two bottoms, a second top has for each item the sum over its steps of the negative best probability. A third bottom has the right labels
// of each item, laid out as top 0. Its last top is then 1 less the mean of the edit distances, each divided by the longer sequence's length;
// with three tops, the scores come before it.
type ctcGreedyDecoder struct {
	layers.Base
	steps, items, classes int
	blank                 int
	best                  *blob.Blob // items x steps x 2: the best class, and its probability
	pick                  *stream.Units
	prob, bestData        []float32

	labels, right []int
	distances     [2][]int // rows of the edit distance's table
}

func (l *ctcGreedyDecoder) SetUp(bottom, top []*blob.Blob) error {
	if len(bottom) == 2 && len(top) > 2 {
		return fmt.Errorf("two bottoms give labels and scores, but there are %d tops", len(top))
	}
	l.best = l.Device.NewBlob(0)
	return nil
}

func (l *ctcGreedyDecoder) Reshape(bottom, top []*blob.Blob) error {
	x := bottom[0]
	if x.NumAxes() < 3 || x.CountFrom(3) != 1 || x.Dim(2) < 1 {
		return fmt.Errorf("bottom[0] must have probabilities of time steps x items x classes, its shape is %s", x.ShapeString())
	}
	for i, b := range bottom[1:] {
		if b.NumAxes() < 2 || b.Dim(0) != x.Dim(0) || b.Dim(1) != x.Dim(1) || b.CountFrom(2) != 1 {
			return fmt.Errorf("bottom[%d] must have a value for each of %d time steps and %d items, its shape is %s", i+1, x.Dim(0), x.Dim(1), b.ShapeString())
		}
	}
	l.blank = int(l.Param.GetCtcDecoderParam().GetBlankIndex())
	if l.blank < 0 {
		l.blank = x.Dim(2) - 1
	}
	if l.blank >= x.Dim(2) {
		return fmt.Errorf("blank_index must be one of the %d classes, it is %d", x.Dim(2), l.blank)
	}
	top[0].Reshape(x.Dim(0), x.Dim(1), 1, 1)
	scores, accuracy := l.others(len(bottom), top)
	if scores != nil {
		scores.Reshape(x.Dim(1), 1, 1, 1)
	}
	if accuracy != nil {
		accuracy.Reshape(1, 1, 1, 1)
	}
	if l.steps == x.Dim(0) && l.items == x.Dim(1) && l.classes == x.Dim(2) {
		return nil
	}
	l.steps, l.items, l.classes = x.Dim(0), x.Dim(1), x.Dim(2)
	l.best.Reshape(l.items, l.steps, 2)
	l.labels, l.right = make([]int, 0, l.steps), make([]int, 0, l.steps)
	l.distances = [2][]int{make([]int, l.steps+1), make([]int, l.steps+1)}
	if l.MPE() {
		return nil
	}
	l.pick = stream.NewUnits(l.Device.Machine, "CTCGreedyDecoder", l.items, x.Count(), l.pickItem)
	return nil
}

// others returns the tops for scores and accuracy, nil where there are none.
func (l *ctcGreedyDecoder) others(bottoms int, top []*blob.Blob) (scores, accuracy *blob.Blob) {
	if bottoms == 3 && len(top) > 1 {
		accuracy = top[len(top)-1]
	}
	if len(top) == 3 || bottoms == 2 && len(top) == 2 {
		scores = top[1]
	}
	return scores, accuracy
}

// pickItem finds the best classes of an item.
func (l *ctcGreedyDecoder) pickItem(w *stream.UnitWorker, n int) {
	best, _ := w.Place(stream.Span(l.bestData, 2*n*l.steps, 2*l.steps))
	buffer := w.Buffer(l.classes)
	for t := range l.steps {
		row, _ := w.Fetch(buffer, stream.Span(l.prob, (t*l.items+n)*l.classes, l.classes))
		if w.Cost(l.classes, 0); w.Values() {
			best[2*t], best[2*t+1] = bestOf(row[:l.classes])
		}
	}
}

// bestOf returns the first index of the largest value, and the value.
func bestOf(row []float32) (index, value float32) {
	k := 0
	for i, v := range row {
		if v > row[k] {
			k = i
		}
	}
	return float32(k), row[k]
}

func (l *ctcGreedyDecoder) Forward(bottom, top []*blob.Blob) error {
	l.prob, l.bestData = bottom[0].Data(), l.best.Data()
	if l.pick != nil {
		if err := l.pick.Run(); err != nil {
			return err
		}
	} else {
		for k := range l.steps * l.items {
			n, t := k%l.items, k/l.items
			at := 2 * (n*l.steps + t)
			l.bestData[at], l.bestData[at+1] = bestOf(l.prob[k*l.classes:][:l.classes])
		}
	}
	if l.Device.Machine.Values() {
		l.decode(bottom, top)
	}
	return nil
}

// decode writes the tops. The management core does it, which is not charged.
func (l *ctcGreedyDecoder) decode(bottom, top []*blob.Blob) {
	scores, accuracy := l.others(len(bottom), top)
	y, marks, distance := top[0].Data(), bottom[1].Data(), 0.0
	for n := range l.items {
		score := l.read(n, marks)
		for t := range l.steps {
			if y[t*l.items+n] = -1; t < len(l.labels) {
				y[t*l.items+n] = float32(l.labels[t])
			}
		}
		if scores != nil {
			scores.Data()[n] = float32(score)
		}
		if accuracy != nil {
			distance += l.distance(n, bottom[2].Data())
		}
	}
	if accuracy != nil {
		accuracy.Data()[0] = float32(1 - distance/float64(max(1, l.items)))
	}
}

// read sets the labels of an item and returns its score.
func (l *ctcGreedyDecoder) read(n int, marks []float32) (score float64) {
	merge, last := l.Param.GetCtcDecoderParam().GetCtcMergeRepeated(), -1
	l.labels = l.labels[:0]
	for t := range l.steps {
		if t > 0 && marks[t*l.items+n] == 0 {
			break
		}
		at := 2 * (n*l.steps + t)
		class := int(l.bestData[at])
		score -= float64(l.bestData[at+1])
		if class != l.blank && !(merge && class == last) {
			l.labels = append(l.labels, class)
		}
		last = class
	}
	return score
}

// distance returns the edit distance of an item's labels to the right ones, which end before the first negative one, divided by the longer
// length.
func (l *ctcGreedyDecoder) distance(n int, right []float32) float64 {
	l.right = l.right[:0]
	for t := 0; t < l.steps && !(right[t*l.items+n] < 0); t++ {
		l.right = append(l.right, int(right[t*l.items+n]+0.5))
	}
	longer := max(len(l.labels), len(l.right))
	if longer == 0 {
		return 0
	}
	before, row := l.distances[0], l.distances[1]
	for j := range len(l.right) + 1 {
		row[j] = j
	}
	for i, a := range l.labels {
		before, row = row, before
		row[0] = i + 1
		for j, b := range l.right {
			replaced := before[j]
			if a != b {
				replaced++
			}
			row[j+1] = min(before[j+1]+1, row[j]+1, replaced)
		}
	}
	return float64(row[len(l.right)]) / float64(longer)
}

// Traits implements Planned.
func (l *ctcGreedyDecoder) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *ctcGreedyDecoder) Backward([]*blob.Blob, []bool, []*blob.Blob) error { return l.NoGradient() }
