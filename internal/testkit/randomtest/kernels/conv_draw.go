package kernels

import (
	"math/rand/v2"
	"slices"
)

// drawConv draws a convolution, of a shape family with specialised kernels or of any shape.
func drawConv(r *rand.Rand) form {
	c := &convForm{common: drawCommon(r, 0.06), N: pick(r, 1, 1, 2, 3, 5, extent(r, 40)), Group: 1}
	c.Strategy = pick(r, "auto", "auto", "explicit", "implicit", "implicit", "winograd", "winograd2", "winograd4", "winograd5")
	axes := pick(r, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 3, 4)
	c.C, c.Out = extent(r, 100), extent(r, 100)
	if r.IntN(3) == 0 {
		c.C, c.Out = 16*extent(r, 6), 16*extent(r, 6)
	}
	side := pick(r, 4, 12, 30, 60)
	for range axes {
		c.In = append(c.In, extent(r, side))
		c.Kernel = append(c.Kernel, pick(r, 1, 2, 3, 3, 3, 4, 5, 5, 7, 11))
		c.Stride = append(c.Stride, pick(r, 1, 1, 1, 1, 2, 2, 3, 4, 7))
		c.Pad = append(c.Pad, pick(r, 0, 0, 1, 1, 2, 3, 5))
		c.Dilation = append(c.Dilation, pick(r, 1, 1, 1, 1, 1, 2, 3))
	}
	c.family(r)
	c.options(r)
	most := work(r, c.native())
	if c.native() && r.IntN(5) == 0 {
		most = max(most, c.fused(r))
	} else if c.native() && r.IntN(8) == 0 {
		most = max(most, c.many(r))
	} else if c.native() && r.IntN(12) == 0 {
		most = max(most, c.stores(r))
	}
	c.bound(most)
	if r.IntN(150) == 0 {
		c.spoil(r)
	}
	return c
}

// family changes a shape to one of a random family.
func (c *convForm) family(r *rand.Rand) {
	all := func(v []int, n int) {
		for i := range v {
			v[i] = n
		}
	}
	switch r.IntN(12) {
	case 0, 1: // Winograd
		all(c.Kernel, pick(r, 3, 3, 3, 5))
		all(c.Stride, 1)
		all(c.Dilation, pick(r, 1, 1, 1, 1, 2))
		all(c.Pad, pick(r, 0, 1, 1, 2))
	case 2, 3: // pointwise, with or without strides
		all(c.Kernel, 1)
		all(c.Pad, 0)
		if r.IntN(2) == 0 {
			all(c.Stride, 1)
		}
	case 4: // few channels, pooled
		c.C, c.Out = 1+r.IntN(4), extent(r, 96)
		all(c.Dilation, 1)
		if r.IntN(2) == 0 {
			all(c.Stride, 1)
		}
	case 5: // kernels as large as the images
		copy(c.Kernel, c.In)
		all(c.Pad, 0)
		all(c.Dilation, 1)
	case 6, 7: // depthwise
		c.Out = c.C
		c.Group = c.C
		if r.IntN(4) == 0 {
			c.Out *= 1 + r.IntN(3)
		}
	case 8: // groups
		c.Group = pick(r, 2, 3, 4, 8)
		c.C, c.Out = c.Group*extent(r, 40), c.Group*extent(r, 40)
	case 9: // strided, for folding or phases
		all(c.Kernel, pick(r, 2, 3, 4, 5, 5, 6, 7))
		all(c.Stride, 2+r.IntN(2))
		all(c.Dilation, 1)
	}
}

// many makes small images of a shape so many that the sums of weights are cut for dozens of cores. It returns a sufficient bound on products.
func (c *convForm) many(r *rand.Rand) int {
	c.N = 33 + r.IntN(40)
	for i := range c.In {
		c.In[i] = max(min(c.In[i], 9), min(c.Kernel[i], 5))
	}
	return 12_000_000
}

// stores changes a shape to one whose images and results may be in rounded blocks. It returns a sufficient bound on products.
func (c *convForm) stores(r *rand.Rand) int {
	s := 1 + r.IntN(2)
	c.N, c.C, c.Out, c.Group = 1+r.IntN(4), 2*lanes*(1+r.IntN(9)), 2*lanes*(1+r.IntN(5)), 1
	c.In, c.Kernel, c.Stride, c.Pad, c.Dilation = []int{extent(r, 20), extent(r, 20)}, []int{1, 1}, []int{s, s}, []int{0, 0}, []int{1, 1}
	c.Values, c.Rounds, c.Strategy, c.Entry, c.Infers, c.Stored = pick(r, "rounded", "coarse"), true, "auto", pick(r, "forward", "relu", "finish"), true, true
	c.InBlocks, c.OutBlocks = r.IntN(4) > 0, r.IntN(4) > 0
	return 4_000_000
}

// fused changes a shape to one for which Grads computes both gradients together: batches of small images for the Winograd
// strategies, or few channels with pooling. It returns a sufficient bound on products.
func (c *convForm) fused(r *rand.Rand) int {
	n := 4 + r.IntN(6)
	c.In, c.Stride, c.Dilation, c.Group = []int{n, max(3, n-2+r.IntN(4))}, []int{1, 1}, []int{1, 1}, 1
	side := pick(r, 3, 3, 5)
	c.Kernel, c.Pad = []int{side, side}, []int{side / 2, side / 2}
	if r.IntN(3) > 0 {
		c.N, c.C, c.Out = 16+r.IntN(12), pick(r, 3, 16, 18, 32), pick(r, 5, 16, 20, 32)
		c.Strategy = pick(r, "auto", "winograd", "winograd2", "winograd4", "winograd5")
		c.Entry = pick(r, "grads", "grads", "pooled", "where", "weightsto", "forward")
		return 8_000_000
	}
	if r.IntN(4) == 0 { // sums over more tiles than a kernel transforms at once
		c.N, c.C, c.Out, c.In = 4+r.IntN(4), 1+r.IntN(4), 1+r.IntN(4), []int{40 + r.IntN(20), 40 + r.IntN(20)}
		c.Strategy, c.Entry = pick(r, "winograd2", "winograd2", "winograd4"), pick(r, "weights", "weightsto")
		return 3_000_000
	}
	c.In[0], c.In[1] = c.In[0]+r.IntN(20), c.In[1]+r.IntN(20)
	c.C, c.Out, c.Strategy, c.Entry = 1+r.IntN(6), 8+r.IntN(32), "implicit", "pooled"
	if r.IntN(2) == 0 {
		c.PoolK, c.PoolS = 2+r.IntN(2), 2
	}
	return 1_000_000
}

// options draws the method to call and the layouts.
func (c *convForm) options(r *rand.Rand) {
	c.Entry = pick(r, "forward", "forward", "relu", "finish", "weights", "weightsto", "weightsto", "input", "input", "where", "addinput", "grads", "pooled")
	if !c.native() {
		c.Entry = pick(r, "forward", "weights", "input")
	}
	c.Bias, c.Add = r.IntN(2) == 0, r.IntN(2) == 0
	c.InBlocks, c.OutBlocks = r.IntN(2) == 0, r.IntN(2) == 0
	c.Thin, c.Stored, c.ForShape, c.Kept, c.Infers = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(6) == 0, r.IntN(3) == 0, r.IntN(2) == 0
	c.PoolK, c.PoolS, c.PoolP = pick(r, 1, 2, 2, 3, 3, 4, 5), 1+r.IntN(3), 0
	if r.IntN(3) == 0 {
		c.PoolP = r.IntN(c.PoolK)
	}
	c.PoolFloor, c.PoolReLU, c.PoolPack = r.IntN(3) == 0, r.IntN(2) == 0, r.IntN(2) == 0
}

// bound shrinks a shape until it needs at most this many products. Most images smaller than their kernels get padding.
func (c *convForm) bound(most int) {
	for i, n := range c.In {
		if lack := c.Dilation[i]*(c.Kernel[i]-1) + 1 - n; lack > 2*c.Pad[i] && !slices.Equal(c.Kernel, c.In) {
			c.Pad[i] = (lack + 1) / 2
		}
	}
	for range 200 {
		out, ok := c.results()
		if !ok {
			return
		}
		if c.N*c.Out*(c.C/c.Group)*volume(c.Kernel)*volume(out) <= most && c.N*(c.C*volume(c.In)+c.Out*volume(out)) <= most {
			return
		}
		c.halve()
	}
}

// halve halves the largest of the images' extents, channels, and number of images.
func (c *convForm) halve() {
	side := slices.Index(c.In, slices.Max(c.In))
	covers := slices.Equal(c.Kernel, c.In)
	each := max(c.C, c.Out) / c.Group
	switch {
	case c.In[side] >= 2*c.N && c.In[side] > 8 && 2*c.In[side] > each:
		c.In[side] = (c.In[side] + 1) / 2
		if covers {
			copy(c.Kernel, c.In)
		} else if lack := c.Dilation[side]*(c.Kernel[side]-1) + 1 - c.In[side]; lack > 2*c.Pad[side] {
			c.Pad[side] = (lack + 1) / 2
		}
	case c.N > 1 && c.N > each/4:
		c.N = (c.N + 1) / 2
	case each > 1 && c.C >= c.Out:
		c.C = max(1, c.C/c.Group/2) * c.Group
		if c.C/c.Group%lanes > lanes/2 {
			c.C = (c.C/c.Group/lanes + 1) * lanes * c.Group
		}
		if c.Group > 1 && c.Group == c.C && each == 1 {
			c.C, c.Group = c.C/2, c.Group/2
		}
	case each > 1:
		c.Out = max(1, c.Out/c.Group*3/4) * c.Group
	case c.Group > 1:
		times := max(1, c.Out/c.C)
		c.Group = (c.Group + 1) / 2
		c.C, c.Out = c.Group, times*c.Group
	default:
		c.Kernel[side] = (c.Kernel[side] + 1) / 2
		c.In[side] = max(c.In[side]/2, 1)
	}
}

// spoil usually makes a shape invalid.
func (c *convForm) spoil(r *rand.Rand) {
	i := r.IntN(len(c.In))
	switch r.IntN(7) {
	case 0:
		c.Kernel[i] = c.In[i] + 2*c.Pad[i] + 1 + r.IntN(9)
	case 1:
		c.Group = c.C + 1
	case 2:
		c.Stride[i] = 0
	case 3:
		c.Pad[i] = -1
	case 4:
		c.Dilation[i] = c.In[i] + 2*c.Pad[i] + 1
	case 5:
		*pick(r, &c.C, &c.Out, &c.Group, &c.In[i], &c.Kernel[i], &c.Dilation[i]) = 0
	case 6:
		for i := range c.Kernel {
			c.Kernel[i] = c.In[i] + 2*c.Pad[i] + 2 // two negative extents have a positive product
		}
	}
}
