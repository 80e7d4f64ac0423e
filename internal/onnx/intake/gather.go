package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// gather takes slices of an axis. Of a constant they are an Embed; of a value a Slice if the indices follow one another, else a BatchReindex, for
// which the axis comes first. An Embed refuses negative indices when it computes.
var gather = composed(func(c chain) *value {
	table, index := must(c.operand(0)), must(c.operand(1))
	dims := table.dims()
	axis := must(axisOf(c.int("axis", 0), len(dims)))
	at := index.dims()
	out := slices.Concat(dims[:axis], at, dims[axis+1:])
	if index.constant != nil {
		indices := must(places(index.constant, dims[axis]))
		v := must(c.plain(0))
		if from, ok := consecutive(indices); ok {
			return c.shaped(c.between(v, axis, from, from+len(indices)), out...)
		}
		list := floats(make([]float32, len(indices)), len(indices))
		for k, i := range indices {
			list.Floats[k] = float32(i)
		}
		return c.shaped(c.gathered(v, axis, must(c.held(list, c.GetOutput()[0]+"_indices"))), out...)
	}
	if table.constant == nil {
		v, list := must(c.plain(0)), must(c.plain(1))
		return c.shaped(c.gathered(v, axis, c.counted(c.shaped(list, count(at)), dims[axis])), out...)
	}
	return c.embedded(table.constant, axis, must(c.plain(1)), out)
})

// places checks indices, of which negative ones count from the end.
func places(t *onnx.Tensor, extent int) ([]int, error) {
	if t.Ints == nil {
		return nil, fmt.Errorf("indices of floats")
	}
	out := whole(t.Ints)
	for k, i := range out {
		if i < -extent || i >= extent {
			return nil, fmt.Errorf("index %d of an axis of %d", i, extent)
		}
		if i < 0 {
			out[k] = i + extent
		}
	}
	return out, nil
}

func consecutive(indices []int) (from int, ok bool) {
	for k, i := range indices {
		if i != indices[0]+k {
			return 0, false
		}
	}
	return append(indices, 0)[0], len(indices) > 0
}

// moved makes an order in which axis from stands at to.
func moved(axes, from, to int) []int {
	order := make([]int, axes)
	for i := range order {
		order[i] = i
	}
	return slices.Insert(slices.Delete(order, from, from+1), to, from)
}

// counted adds an axis's extent to negative indices, which count from its end.
func (c chain) counted(list *value, extent int) *value {
	if list.positive {
		return list
	}
	negative := c.threshold(c.power(list, 1, -1, 0), 0)
	return c.total([]float32{1, float32(extent)}, list, negative)
}

// gathered takes the slices that a list names along an axis.
func (c chain) gathered(v *value, axis int, list *value) *value {
	first := v
	if axis > 0 {
		first = c.permuted(v, moved(len(v.shape), axis, 0)...)
	}
	out := c.layer("BatchReindex", &caffepb.LayerParameter{}, first, list)
	if axis > 0 {
		out = c.permuted(out, moved(len(v.shape), 0, axis)...)
	}
	return out
}

// embedded reads slices of a constant.
func (c chain) embedded(t *onnx.Tensor, axis int, index *value, out []int) *value {
	if t.Floats == nil {
		c.refuse("a table of integers")
	}
	order := moved(len(t.Dims), axis, 0)
	rows, width := t.Dims[axis], count(t.Dims)/max(1, t.Dims[axis])
	p := &caffepb.EmbedParameter{InputDim: proto.Uint32(uint32(rows)), NumOutput: proto.Uint32(uint32(width)), BiasTerm: proto.Bool(false)}
	v := c.layers(1, "Embed", &caffepb.LayerParameter{EmbedParam: p}, []*value{index}, transposed(t, order))[0]
	if axis == 0 {
		return c.shaped(v, out...)
	}
	at := len(index.shape)
	v = c.shaped(v, slices.Concat(index.shape, t.Dims[:axis], t.Dims[axis+1:])...)
	order = order[:0]
	for i := range axis {
		order = append(order, at+i)
	}
	for i := range at {
		order = append(order, i)
	}
	for i := at + axis; i < len(v.shape); i++ {
		order = append(order, i)
	}
	return c.permuted(v, order...)
}
