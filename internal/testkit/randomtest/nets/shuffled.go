package nets

import "fmt"

// shuffled appends a unit of ShuffleNet (Zhang et al. 2018): a pointwise convolution in groups, a shuffle, a depthwise convolution and a second
// pointwise convolution in groups, with normalisations. Its input is added, or concatenated as means of strided windows.
func (b *builder) shuffled(t *tip) *tip {
	c, stride := t.shape[1], 1+b.r.IntN(2)
	if min(t.shape[2], t.shape[3]) < 3 {
		stride = 1
	}
	group := b.divisor(c)
	width := group * b.integer(1, max(1, 64/group))
	one, three := window{1, 1, 0, 1}, window{3, stride, 1, 1}
	x := t
	for _, step := range []func(){
		func() { x = b.conv(x, one, one, width, group) },
		func() { x = b.batchNorm(x) },
		func() { x = b.shuffle(x, group) },
		func() { x = b.conv(x, three, three, width, width) },
		func() { x = b.batchNormAlone(x) },
		func() { x = b.conv(x, one, one, c, group) },
		func() { x = b.batchNormAlone(x) },
	} {
		if step(); x == nil {
			return nil
		}
	}
	if stride == 1 {
		x = b.eltwiseSum(t, x)
	} else {
		x = b.besideMeans(t, x)
	}
	if x == nil {
		return nil
	}
	return b.neuron(x)
}

// shuffle appends a ShuffleChannel layer.
func (b *builder) shuffle(t *tip, group int) *tip {
	return b.one("ShuffleChannel", t, t.shape, 0, fmt.Sprintf("shuffle_channel_param { group: %d }", group))
}

// besideMeans concatenates the means of t's windows, at a stride of 2, with x, whose planes have half the extents of those of t, rounded up.
func (b *builder) besideMeans(t, x *tip) *tip {
	h, w := window{3, 2, t.shape[2] % 2, 1}, window{3, 2, t.shape[3] % 2, 1}
	shape := []int{t.shape[0], t.shape[1], h.pooled(t.shape[2]), w.pooled(t.shape[3])}
	means := b.one("Pooling", t, shape, float64(9*count(shape)), "pooling_param { pool: AVE "+geometry(h, w)+"}")
	if means == nil {
		return nil
	}
	return b.concat(1, means, x)
}
