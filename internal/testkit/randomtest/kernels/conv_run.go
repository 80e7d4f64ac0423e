package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// convJob holds a convolution's arrays, and the properties that are known after planning.
type convJob struct {
	*convForm
	ref                                        convolution
	out                                        []int
	x, w, bias, y, dy, dx, dw, db, above, mask *array
	sums                                       [2][]float32 // initial values of dw and dx, if they are added to
	pool                                       *poolForm
	pooled                                     *array // result of pooling, or its gradient
	forms                                      op.Weights
}

func (c *convForm) job() (*job, error) {
	out, ok := c.results()
	if !ok {
		return &job{invalid: true, build: func(m *cpe.Machine) (*run, error) {
			_, _, _, err := c.plan(m)
			return nil, err
		}}, nil
	}
	j := &convJob{convForm: c, out: out}
	j.ref = convolution{convForm: c, met: c.meetings(out), image: volume(c.In), plane: volume(out), kernel: volume(c.Kernel)}
	r := rand.New(rand.NewPCG(c.Seed, 1))
	draw := func(name string, n int) *array {
		return &array{name: name, n: n, start: values(r, c.Values, n)}
	}
	images, results, weights := c.N*c.C*j.ref.image, c.N*c.Out*j.ref.plane, c.Out*c.C/c.Group*j.ref.kernel
	j.x, j.w, j.bias = draw("x", images), draw("w", weights), draw("bias", c.Out)
	j.dy, j.above = draw("dy", results), draw("above", images)
	j.y = &array{name: "y", n: results, written: true}
	j.dx = &array{name: "dx", n: images, written: true}
	j.dw = &array{name: "dw", n: weights, written: true}
	j.db = &array{name: "db", n: c.Out, written: true, start: values(r, c.Values, c.Out)}
	j.sums[0], j.sums[1] = values(r, c.Values, weights), values(r, c.Values, images)
	if c.Entry == "pooled" {
		return j.pooledJob(r), nil
	}
	all := &job{arrays: []*array{j.x, j.w, j.bias, j.y, j.dy, j.dx, j.dw, j.db, j.above}}
	all.build = func(m *cpe.Machine) (*run, error) {
		k, images, results, err := c.plan(m)
		if err != nil {
			return nil, err
		}
		in, out := images != shape.Planes, results != shape.Planes
		j.laid(in, out)
		made := j.call(k, in, out)
		j.stored(images == shape.RoundedBlocks, results == shape.RoundedBlocks)
		return made, nil
	}
	return all, nil
}

// laid sets the layouts of images and results: in blocks or in planes.
func (j *convJob) laid(in, out bool) {
	j.x.plane, j.y.plane = 0, 0
	if in {
		j.x.plane = j.ref.image
	}
	if out {
		j.y.plane = j.ref.plane
	}
	j.dx.plane, j.above.plane, j.dy.plane = j.x.plane, j.x.plane, j.y.plane
	for _, a := range []*array{j.x, j.y, j.dx, j.above, j.dy} {
		a.whole, a.front = nil, nil
	}
}

// stored sets which of images and results are in rounded blocks.
func (j *convJob) stored(images, results bool) {
	if j.x.stored, j.y.stored = images, results; !results {
		return
	}
	for i, v := range j.y.want {
		if j.y.allowed[i] == 0 {
			j.y.want[i] = float64(vec.BFloat16(float32(v)))
			continue
		}
		j.y.allowed[i] += (math.Abs(v) + j.y.allowed[i]) / 256
	}
}

// biases returns the biases, or nil without biases.
func (j *convJob) biases() []float32 {
	if !j.Bias {
		return nil
	}
	return j.bias.data
}

// fixed returns conv.Arrays.Fixed.
func (j *convJob) fixed() *op.Weights {
	if j.Kept {
		return &j.forms
	}
	return nil
}

// call sets the expected results of the method, and returns a run that calls it.
func (j *convJob) call(k *plan.Conv, in, out bool) *run {
	st := k.Strategy
	thin := j.Thin && in
	if thin {
		if h, w := k.Strides(); h*w > 1 {
			j.thin(h, w)
		}
	}
	j.unwritten()
	switch e := j.Entry; {
	case e == "relu":
		j.forward(st(shape.Forward), func(_ int, v float64) float64 { return max(0, v) })
		return &run{func() error {
			return k.Run(shape.Forward, conv.Arrays{X: j.x.data, W: j.w.data, Bias: j.biases(), Y: j.y.data, Floor: true, Fixed: j.fixed()})
		}, k.Scratch(shape.Forward)}
	case e == "finish":
		return j.finish(k, st(shape.Forward), out)
	case e == "forward":
		j.forward(st(shape.Forward), func(_ int, v float64) float64 { return v })
		return &run{func() error {
			return k.Run(shape.Forward, conv.Arrays{X: j.x.data, W: j.w.data, Bias: j.biases(), Y: j.y.data, Fixed: j.fixed()})
		}, k.Scratch(shape.Forward)}
	case e == "weights":
		j.weights(st(shape.WeightGradient), true, false)
		return &run{func() error {
			return k.Run(shape.WeightGradient, conv.Arrays{X: j.x.data, DY: j.dy.data, DW: j.dw.data, Add: true})
		}, k.Scratch(shape.WeightGradient)}
	case e == "weightsto":
		biases := j.Bias && k.Does(shape.WeightGradient, op.SumBiases)
		j.weights(st(shape.WeightGradient), j.Add, biases)
		return &run{func() error {
			return k.Run(shape.WeightGradient, conv.Arrays{X: j.x.data, DY: j.dy.data, DW: j.dw.data, DB: some(j.db, biases), Add: j.Add})
		}, k.Scratch(shape.WeightGradient)}
	case e == "grads" && k.JoinsGrads():
		return j.both(k, st(shape.WeightGradient))
	case e == "where":
		j.input(st(shape.InputGradient), false, true)
		return &run{func() error {
			return k.Run(shape.InputGradient, conv.Arrays{DY: j.dy.data, W: j.w.data, DX: j.dx.data, Above: j.above.data})
		}, k.Scratch(shape.InputGradient)}
	case e == "addinput":
		j.input(st(shape.InputGradient), true, false)
		return &run{func() error {
			return k.Run(shape.InputGradient, conv.Arrays{DY: j.dy.data, W: j.w.data, DX: j.dx.data, Add: true})
		}, k.Scratch(shape.InputGradient)}
	}
	j.input(st(shape.InputGradient), false, false)
	return &run{func() error {
		return k.Run(shape.InputGradient, conv.Arrays{DY: j.dy.data, W: j.w.data, DX: j.dx.data, Fixed: j.fixed()})
	}, k.Scratch(shape.InputGradient)}
}

// some returns an array's data, or nil if on is false.
func some(a *array, on bool) []float32 {
	if !on {
		return nil
	}
	return a.data
}

// unwritten marks all arrays as unchanged by the kernel.
func (j *convJob) unwritten() {
	for _, a := range []*array{j.y, j.dx, j.dw, j.db} {
		a.written, a.want = false, nil
	}
}

// adds sets the start of an array: values if the kernel adds to it, else NaN.
func (j *convJob) adds(a *array, add bool) {
	if a.start, a.whole = nil, nil; !add {
		return
	}
	if a.start = j.sums[0]; a == j.dx {
		a.start = j.sums[1]
	}
}

// thin stores only the pixels at the strides: at the front of each plane of the images, followed by NaN.
func (j *convJob) thin(h, w int) {
	height, width := j.In[0], j.In[len(j.In)-1]
	if len(j.In) == 1 {
		height, h = 1, 1
	}
	for _, a := range []*array{j.x, j.dx, j.above} {
		a.front = func(pixel int) int {
			y, x := pixel/width, pixel%width
			if y%h != 0 || x%w != 0 {
				return -1
			}
			return y/h*((width+w-1)/w) + x/w
		}
		a.pixels = height * width
		a.whole = nil
	}
}
