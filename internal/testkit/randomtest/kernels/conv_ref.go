package kernels

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// meeting is one product of a convolution: the positions in the result, in the kernel and in the input.
type meeting struct{ result, offset, input int32 }

// meetings lists all products whose input position lies inside the image.
func (c *convForm) meetings(out []int) (list []meeting) {
	position, offset := make([]int, len(out)), make([]int, len(out))
	for p := range volume(out) {
		unravel(position, p, out)
		for k := range volume(c.Kernel) {
			unravel(offset, k, c.Kernel)
			input, inside := 0, true
			for i := range out {
				x := position[i]*c.Stride[i] - c.Pad[i] + offset[i]*c.Dilation[i]
				inside = inside && x >= 0 && x < c.In[i]
				input = input*c.In[i] + x
			}
			if inside {
				list = append(list, meeting{int32(p), int32(k), int32(input)})
			}
		}
	}
	return list
}

// unravel converts a linear index to indices on the axes.
func unravel(to []int, i int, extents []int) {
	for axis := len(extents) - 1; axis >= 0; axis-- {
		to[axis] = i % extents[axis]
		i /= extents[axis]
	}
}

// convolution is the reference of a convolution.
type convolution struct {
	*convForm
	met                  []meeting
	image, plane, kernel int       // values in a channel's image, in its results and in a kernel
	sizes                []float32 // for a gradient of results that is itself a sum: the sum of its terms' absolute values; else nil
}

// sizesOf returns the magnitudes of y, the gradient of the results.
func (c *convolution) sizesOf(y []float32) []float32 {
	if c.sizes != nil {
		return c.sizes
	}
	return y
}

// planes visits the corresponding planes of image, results and kernel.
func (c *convolution) planes(visit func(image, plane, weights int)) {
	in, out := c.C/c.Group, c.Out/c.Group
	for n := range c.N {
		for o := range c.Out {
			for i := range in {
				visit((n*c.C+o/out*in+i)*c.image, (n*c.Out+o)*c.plane, (o*in+i)*c.kernel)
			}
		}
	}
}

// add adds the products of two of the arrays x, w, y to the sums of the third.
func (c *convolution) add(s sums, d shape.Direction, x, w, y []float32) {
	size := c.sizesOf(y)
	c.planes(func(image, plane, weights int) {
		for _, t := range c.met {
			q, p, k := image+int(t.input), plane+int(t.result), weights+int(t.offset)
			var at int
			var a, b, of float64
			switch d {
			case shape.Forward:
				at, a, b = p, float64(x[q]), float64(w[k])
				of = b
			case shape.WeightGradient:
				at, a, b, of = k, float64(x[q]), float64(y[p]), float64(size[p])
			default:
				at, a, b, of = q, float64(w[k]), float64(y[p]), float64(size[p])
			}
			s.value[at] += a * b
			s.size[at] += math.Abs(a * of)
			s.terms[at]++
		}
	})
}

// winogradParts are the tolerances of Winograd convolutions for values of unit variance, divided by the square root of the number
// of terms. They are the same as in the tests of package kernel.
var winogradParts = map[shape.Strategy]float64{shape.Winograd2: 2e-5, shape.Winograd4: 2e-4, shape.Winograd5: 2e-4}

// allow returns the tolerances of a direction's sums. A Winograd sum depends on all neighbouring values, so its tolerance depends
// on the largest possible terms. a and b are the multiplied arrays, terms is the number of products in a sum.
func (s *sums) allow(st shape.Strategy, exact bool, a, b []float32, terms int) []float64 {
	part, ok := winogradParts[st]
	list := s.allowed(exact && !ok)
	if !ok {
		return list
	}
	more := part * math.Sqrt(float64(max(1, terms))) * largest(a) * largest(b)
	for i := range list {
		list[i] += more
	}
	return list
}

// largest returns the largest absolute value.
func largest(v []float32) float64 {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	return most
}
