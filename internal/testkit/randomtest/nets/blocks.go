package nets

import (
	"fmt"
	"slices"
)

// residual appends a block that adds its input to the result of convolutions.
func (b *builder) residual(t *tip) *tip {
	c := t.shape[1]
	short, x := t, t
	stride := 1
	out := c
	if b.chance(0.4) {
		out, stride = b.outputs(256), 1+b.r.IntN(2)
		pointwise := window{1, stride, 0, 1}
		if short = b.conv(t, pointwise, pointwise, out, 1); short == nil {
			return nil
		}
		if b.chance(0.6) {
			if short = b.batchNormAlone(short); short == nil {
				return nil
			}
		}
	}
	size := []int{1, 3, 3, 5}[b.r.IntN(4)]
	for i := range 1 + b.r.IntN(2) {
		w := window{size, 1, size / 2, 1}
		if i == 0 {
			w.stride = stride
		}
		if x = b.conv(x, w, w, out, 1); x == nil {
			return nil
		}
		if b.chance(0.6) {
			if x = b.batchNorm(x); x == nil {
				return nil
			}
		}
	}
	if !slices.Equal(short.shape, x.shape) {
		return x
	}
	if x = b.eltwiseSum(short, x); x == nil || b.chance(0.2) {
		return x
	}
	return b.neuron(x)
}

func (b *builder) batchNormAlone(t *tip) *tip {
	if t = b.same("BatchNorm", t, ""); t == nil {
		return nil
	}
	return b.same("Scale", t, "scale_param { bias_term: true filler { type: \"gaussian\" mean: 1 std: 0.2 } }")
}

func (b *builder) eltwiseSum(x, y *tip) *tip {
	if b.chance(0.5) {
		x, y = y, x
	}
	if !b.affords(0, x.shape) {
		return nil
	}
	out := &tip{name: b.blob(), shape: x.shape}
	b.layer("Eltwise", []*tip{x, y}, []*tip{out}, "")
	b.tips = append(b.tips, out)
	return out
}

// inception appends a block that concatenates several branches of one input.
func (b *builder) inception(t *tip) *tip {
	var parts []*tip
	for range 2 + b.r.IntN(3) {
		x := t
		if b.chance(0.3) {
			w := window{3, 1, 1, 1}
			shape := []int{t.shape[0], t.shape[1], w.pooled(t.shape[2]), w.pooled(t.shape[3])}
			if min(t.shape[2], t.shape[3]) >= 3 {
				method := "AVE"
				if !b.smooth && b.chance(0.7) {
					method = "MAX"
				}
				if x = b.one("Pooling", t, shape, 0, fmt.Sprintf("pooling_param { pool: %s kernel_size: 3 stride: 1 pad: 1 }", method)); x == nil {
					return nil
				}
			}
		}
		size := []int{1, 1, 3, 5}[b.r.IntN(4)]
		w := window{size, 1, size / 2, 1}
		if size > 1 && b.chance(0.6) {
			one := window{1, 1, 0, 1}
			if x = b.conv(x, one, one, b.outputs(64), 1); x == nil {
				return nil
			}
			if b.chance(0.7) {
				x = b.neuron(x)
			}
		}
		if x == nil {
			return nil
		}
		if x = b.conv(x, w, w, b.outputs(128), 1); x == nil {
			return nil
		}
		if b.chance(0.7) {
			if x = b.neuron(x); x == nil {
				return nil
			}
		}
		parts = append(parts, x)
	}
	return b.concat(1, parts...)
}

// plain appends a convolution with its usual followers.
func (b *builder) plain(t *tip) *tip {
	x := b.convolution(t)
	if x != nil && b.chance(0.3) {
		x = b.normal(x)
	}
	if x != nil && x.images() && b.chance(0.6) {
		x = b.neuron(x)
	}
	if x != nil && x.images() && b.chance(0.4) {
		x = b.pooling(x)
		if x != nil && b.chance(0.2) {
			x = b.neuron(x)
		}
	}
	if x != nil && x.images() && b.chance(0.15) {
		x = b.lrn(x)
		if x != nil && b.chance(0.5) && !b.smooth {
			x = b.pooling(x)
		}
	}
	return x
}

// growImages appends a block to a tip of images.
func (b *builder) growImages(t *tip) {
	switch k := b.r.IntN(20); {
	case k < 6:
		b.plain(t)
	case k < 8:
		b.residual(t)
	case k < 9:
		b.shuffled(t)
	case k < 11:
		b.inception(t)
	case k < 12:
		b.deconvolution(t)
	case k < 13:
		b.pooling(t)
	case k < 14:
		b.normal(t)
	case k < 15:
		b.spatial(t)
	case k < 16:
		b.several(t)
	case k < 17:
		b.selection(t)
	case k < 18:
		b.neuron(t)
	default:
		b.product(t)
	}
}

// growRows appends a block to a tip of vectors.
func (b *builder) growRows(t *tip) {
	if len(t.shape) < 2 {
		b.neuron(t)
		return
	}
	switch k := b.r.IntN(10); {
	case k < 5:
		if x := b.product(t); x != nil && b.chance(0.6) {
			b.neuron(x)
		}
	case k < 6:
		b.neuron(t)
	case k < 7:
		b.several(t)
	case k < 8:
		b.selection(t)
	case k < 9 && len(t.shape) == 2:
		b.rowsOfSequences(t)
	default:
		b.normalRows(t)
	}
}

// normalRows appends a normalisation of vectors.
func (b *builder) normalRows(t *tip) {
	if b.chance(0.5) {
		b.batchNorm(t)
		return
	}
	b.same("Scale", t, "scale_param { bias_term: true filler { type: \"gaussian\" mean: 1 std: 0.2 } }")
}

// sequence appends a recurrent layer over the batch as time steps.
func (b *builder) sequence(t *tip) *tip {
	steps, batch, deep := t.shape[0], t.shape[1], count(t.shape[2:])
	out := b.integer(1, 96)
	kind := []string{"LSTM", "RNN"}[b.r.IntN(2)]
	work := float64(steps*batch) * float64(deep+out) * float64(4*out)
	top := &tip{name: b.blob(), shape: []int{steps, batch, out}}
	if !b.affords(work, top.shape) {
		return nil
	}
	flags := &tip{name: b.blob(), shape: []int{steps, batch}}
	if b.chance(0.2) {
		b.layer("ContinuationIndicator", nil, []*tip{flags}, fmt.Sprintf("continuation_indicator_param { time_step: %d batch_size: %d }", steps, batch))
	} else {
		flags = b.input("flag", steps, batch)
	}
	bottoms := []*tip{t, flags}
	if b.chance(0.3) {
		bottoms = append(bottoms, b.input("gauss", batch, b.integer(1, 20)))
	}
	b.layer(kind, bottoms, []*tip{top}, fmt.Sprintf("recurrent_param { num_output: %d weight_filler { type: \"uniform\" min: -0.2 max: 0.2 } %s }", out, biasFiller))
	b.tips = append(b.tips, top)
	return top
}

// rowsOfSequences appends SWCaffe's Lstm, whose bottom has the time steps of several sequences as rows.
func (b *builder) rowsOfSequences(t *tip) *tip {
	rows, out := t.shape[0], b.integer(1, 48)
	batch := 1
	for _, n := range []int{2, 3, 5, 8, 16} {
		if rows%n == 0 && b.chance(0.5) {
			batch = n
		}
	}
	bottoms := []*tip{t}
	if b.chance(0.5) {
		bottoms = append(bottoms, b.input("flag", rows))
	}
	top := &tip{name: b.blob(), shape: []int{rows, out}}
	if rows/batch > 64 || !b.affords(float64(rows)*float64(t.shape[1]+out)*float64(4*out), top.shape) {
		return nil
	}
	b.layer("Lstm", bottoms, []*tip{top}, fmt.Sprintf("lstm_param { num_output: %d batch_size: %d weight_filler { type: \"uniform\" min: -0.2 max: 0.2 } %s }", out, batch, biasFiller))
	b.tips = append(b.tips, top)
	return top
}
