// Package lineartest measures how well a linear classifier solves a set of labelled images. Tests of the rendered data sets use
// it: a set that softmax regression solves says little about a convolutional net.
package lineartest

import (
	"math"
	"math/rand/v2"
)

// Set is labelled images, each a vector of pixels.
type Set struct {
	Pixels [][]byte
	Labels []int
}

// Add appends a copy of an image.
func (s *Set) Add(pixels []byte, label int) {
	s.Pixels = append(s.Pixels, append([]byte(nil), pixels...))
	s.Labels = append(s.Labels, label)
}

// Accuracy trains softmax regression, p = softmax(W x + b), on train and returns its accuracy on test after the best epoch. It
// minimises the cross entropy by stochastic gradient descent, with a falling rate and a little weight decay. Pixels are
// normalised to mean 0 and standard deviation 1. Choosing the epoch on the test set makes the result an upper bound.
func Accuracy(train, test *Set, classes, epochs int) float64 {
	norm := newNorm(train)
	m := &model{classes: classes, weights: make([]float32, classes*len(norm.mean)), bias: make([]float32, classes)}
	known, unknown := norm.all(train), norm.all(test)
	rng := rand.New(rand.NewPCG(1, 2))
	best := 0.0
	for epoch := range epochs {
		rate := 0.1 / float32(len(norm.mean)) / float32(1+epoch)
		for _, i := range rng.Perm(len(train.Labels)) {
			m.step(known[i], train.Labels[i], rate)
		}
		right := 0
		for i, label := range test.Labels {
			if m.predict(unknown[i]) == label {
				right++
			}
		}
		best = max(best, float64(right)/float64(len(test.Labels)))
	}
	return best
}

// norm maps a pixel to (pixel - mean) * scale.
type norm struct{ mean, scale []float32 }

func newNorm(s *Set) *norm {
	n := len(s.Pixels[0])
	sum, squares := make([]float64, n), make([]float64, n)
	for _, image := range s.Pixels {
		for i, v := range image {
			sum[i] += float64(v)
			squares[i] += float64(v) * float64(v)
		}
	}
	out := &norm{make([]float32, n), make([]float32, n)}
	count := float64(len(s.Pixels))
	for i := range sum {
		mean := sum[i] / count
		out.mean[i] = float32(mean)
		out.scale[i] = float32(1 / math.Sqrt(max(1, squares[i]/count-mean*mean)))
	}
	return out
}

// all returns the normalised images of a set.
func (n *norm) all(s *Set) [][]float32 {
	images := make([][]float32, len(s.Pixels))
	for k, pixels := range s.Pixels {
		images[k] = make([]float32, len(pixels))
		for i, v := range pixels {
			images[k][i] = (float32(v) - n.mean[i]) * n.scale[i]
		}
	}
	return images
}

type model struct {
	classes       int
	weights, bias []float32 // weights: classes x pixels
	scores        []float32
}

// row returns the weights of a class.
func (m *model) row(class, n int) []float32 { return m.weights[class*n : (class+1)*n] }

// score returns the scores of an image's classes. Four sums at a time hide the latency of additions.
func (m *model) score(x []float32) []float32 {
	m.scores = append(m.scores[:0], m.bias...)
	n, c := len(x), 0
	for ; c+4 <= m.classes; c += 4 {
		r0, r1, r2, r3 := m.row(c, n), m.row(c+1, n), m.row(c+2, n), m.row(c+3, n)
		var s0, s1, s2, s3 float32
		for i, v := range x {
			s0 += r0[i] * v
			s1 += r1[i] * v
			s2 += r2[i] * v
			s3 += r3[i] * v
		}
		m.scores[c] += s0
		m.scores[c+1] += s1
		m.scores[c+2] += s2
		m.scores[c+3] += s3
	}
	for ; c < m.classes; c++ {
		var sum float32
		for i, w := range m.row(c, n) {
			sum += w * x[i]
		}
		m.scores[c] += sum
	}
	return m.scores
}

func (m *model) predict(x []float32) int { return greatest(m.score(x)) }

func greatest(scores []float32) int {
	best := 0
	for c, v := range scores {
		if v > scores[best] {
			best = c
		}
	}
	return best
}

// step moves the weights by -rate (gradient + decay w); the gradient of class c is (p_c - [c = label]) x.
func (m *model) step(x []float32, label int, rate float32) {
	const decay = 0.01
	scores := m.score(x)
	top := scores[greatest(scores)]
	var total float64
	for _, v := range scores {
		total += math.Exp(float64(v - top))
	}
	for c, v := range scores {
		g := float32(math.Exp(float64(v-top)) / total)
		if c == label {
			g--
		}
		m.bias[c] -= rate * g
		row := m.row(c, len(x))
		for i, v := range x {
			w := row[i]
			row[i] = w - rate*(g*v+decay*w)
		}
	}
}
