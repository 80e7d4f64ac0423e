package kernels

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// meeting is an output position, an offset in the kernel and the input position that they meet.
type meeting struct{ result, offset, input int32 }

// meetings lists all that lie inside the image.
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

// unravel writes the indices of place i of an array of some extents.
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
	image, plane, kernel int       // values of a channel's image, its results and a kernel
	sizes                []float32 // of the terms that the results' gradient was added up of, if it was
}

// sizesOf are the sizes of the results' gradient y.
func (c *convolution) sizesOf(y []float32) []float32 {
	if c.sizes != nil {
		return c.sizes
	}
	return y
}

// planes visits the planes of image, results and kernel that belong together.
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

// add adds the products of two arrays' values to those sums that they meet.
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

// winogradParts are the tolerances of Winograd's convolutions, as parts of the square root of the number of terms, for values of unit
// variance: those that package kernel's tests hold it to.
var winogradParts = map[shape.Strategy]float64{shape.Winograd2: 2e-5, shape.Winograd4: 2e-4, shape.Winograd5: 2e-4}

// allow returns what sums of a direction may differ: those of a strategy of Winograd's depend on all values nearby, and so on the
// largest terms there can be, a and b being the arrays that are multiplied, and terms the number of products of a sum.
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

// largest is the largest of the values' sizes.
func largest(v []float32) float64 {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	return most
}
