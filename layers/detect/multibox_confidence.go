package detect

import (
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// Labels that are no class. The target of noClass is zero for all classes. unused priors have no loss.
const (
	noClass = -1
	unused  = -2
)

// confidence is the loss of the scores: -log(softmax(x)[label]), or with logistic the sum over classes of the cross entropy of sigmoid(x) and
// the label's unit vector.
type confidence struct {
	logistic       bool
	labels, losses *blob.Blob // of each prior of each image

	sum, grad *stream.Kernel
	classes   int
	shape     [2]int
	scale     float32
	ins       [2][]float32
	outs      [1][]float32
}

func (c *confidence) reshape(b *layers.Base, p predictions) error {
	shape := [2]int{p.images * p.priors, p.classes}
	if c.shape == shape {
		return nil
	}
	c.shape, c.classes = shape, p.classes
	c.labels.Reshape(shape[0])
	c.losses.Reshape(shape[0])
	if b.MPE() {
		return nil
	}
	streams, dims, ins := part.StreamsOf(b), [3]int{shape[0], shape[1], 1}, part.Arrays(1, stream.Plane)
	c.sum = streams.Make(stream.Pass{
		Name: "MultiBoxLoss confidences", Dims: dims, WholeMid: true, Sweeps: 2, Ins: ins, Outs: []stream.Array{stream.Plane}, Scratch: 1,
		Cost: stream.Work{Flops: 3, Specials: 1}, Op: c.lossTile,
	})
	c.grad = streams.Make(stream.Pass{
		Name: "MultiBoxLoss confidences' gradient", Dims: dims, WholeMid: true, Sweeps: 2, Ins: ins, Outs: part.Arrays(1),
		Cost: stream.Work{Flops: 4, Specials: 1}, Op: c.gradTile,
	})
	return streams.Err
}

// begin sets all labels to the one of priors without partner.
func (c *confidence) begin(unmatched float32) { vec.Fill(c.labels.Data(), unmatched) }

// run computes the losses of all priors.
func (c *confidence) run(scores []float32) error {
	labels, losses := c.labels.Data(), c.losses.Data()
	if c.sum != nil {
		c.ins, c.outs[0] = [2][]float32{scores, labels}, losses
		return c.sum.Run(c.ins[:], c.outs[:])
	}
	for i, label := range labels {
		losses[i] = float32(c.loss(scores[i*c.classes:][:c.classes], int(label)))
	}
	return nil
}

// loss is the loss of a prior, in float64.
func (c *confidence) loss(x []float32, label int) (loss float64) {
	if c.logistic {
		for k, v := range x {
			loss += softplus(float64(v))
			if k == label {
				loss -= float64(v)
			}
		}
		return loss
	}
	largest, sum := shiftOf(x), 0.0
	for _, v := range x {
		sum += math.Exp(float64(v) - largest)
	}
	return -math.Log(max(math.Exp(float64(x[label])-largest)/sum, smallestNormal))
}

const smallestNormal = 1.17549435e-38

// shiftOf returns the largest score.
func shiftOf(x []float32) float64 {
	largest := x[0]
	for _, v := range x[1:] {
		largest = max(largest, v)
	}
	return float64(largest)
}

// softplus is log(1 + e^v).
func softplus(v float64) float64 { return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }

// lossTile computes a tile's losses. The exponentials of the whole tile are computed together.
func (c *confidence) lossTile(t *stream.Tile) {
	if c.logistic {
		for o := range t.O {
			t.Out[0][o*t.PStride] = float32(c.loss(t.In[0][o*t.OStride:][:t.M], int(t.In[1][o*t.PStride])))
		}
		return
	}
	n := t.O * t.M
	e := t.Scratch[0][:n]
	for o := range t.O {
		x := t.In[0][o*t.OStride:][:t.M]
		vec.AddScalar(e[o*t.M:][:t.M], x, -vec.MaxOf(x))
	}
	for o := range t.O {
		t.Out[0][o*t.PStride] = e[o*t.M+int(t.In[1][o*t.PStride])] // x[label] - max
	}
	vec.Exp(e, e)
	for o := range t.O {
		loss := math.Log(vec.Sum(e[o*t.M:][:t.M])) - float64(t.Out[0][o*t.PStride])
		t.Out[0][o*t.PStride] = float32(min(loss, largestLoss))
	}
}

// largestLoss is -log(smallestNormal).
const largestLoss = 87.33654475055310

// total returns the sum of the losses of priors that are used.
func (c *confidence) total() (sum float64) {
	losses := c.losses.Data()
	for i, label := range c.labels.Data() {
		if label != unused {
			sum += float64(losses[i])
		}
	}
	return sum
}

// backward computes the gradient of the scores: scale * (softmax(x), or sigmoid(x), minus the label's unit vector).
func (c *confidence) backward(dx, x []float32, scale float64) error {
	labels := c.labels.Data()
	if c.grad != nil {
		c.scale = float32(scale)
		c.ins, c.outs[0] = [2][]float32{x, labels}, dx
		return c.grad.Run(c.ins[:], c.outs[:])
	}
	for i, label := range labels {
		own, d := x[i*c.classes:][:c.classes], dx[i*c.classes:][:c.classes]
		if label == unused {
			clear(d)
			continue
		}
		sum, largest := 0.0, shiftOf(own)
		for _, v := range own {
			sum += math.Exp(float64(v) - largest)
		}
		for k, v := range own {
			p := math.Exp(float64(v)-largest) / sum
			if c.logistic {
				p = 1 / (1 + math.Exp(-float64(v)))
			}
			if k == int(label) {
				p--
			}
			d[k] = float32(scale * p)
		}
	}
	return nil
}

// gradTile computes a tile's gradients.
func (c *confidence) gradTile(t *stream.Tile) {
	for o := range t.O {
		x, d, label := t.In[0][o*t.OStride:][:t.M], t.Out[0][o*t.OStride:][:t.M], int(t.In[1][o*t.PStride])
		if label == unused {
			clear(d)
			continue
		}
		by := c.scale
		if c.logistic {
			vec.Sigmoid(d, x)
		} else {
			vec.AddScalar(d, x, -vec.MaxOf(x))
			vec.Exp(d, d)
			by = float32(float64(by) / vec.Sum(d))
		}
		vec.Scale(d, d, by)
		if label >= 0 {
			d[label] -= c.scale
		}
	}
}
