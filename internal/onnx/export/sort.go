package export

import "math"

// argMax writes the top_k largest values or their indices. Of equal values Caffe puts the larger index first and TopK the smaller, so that
// TopK gets the values in reverse order.
func argMax(l *layer) error {
	p := l.p.GetArgmaxParam()
	k, x, ds := int(p.GetTopK()), l.in[0], l.dims(l.bottom[0])
	byAxis := p != nil && p.Axis != nil
	axis := 1
	if byAxis {
		axis, _ = l.bottom[0].Axis(int(p.GetAxis()))
	} else {
		items := []dim{{n: 1}, product(ds)}
		if len(ds) > 0 {
			items = []dim{ds[0], product(ds[1:])}
		}
		x, ds = l.reshape(x, ds, items), items
	}
	indices, values := "", ""
	if k == 1 && !p.GetOutMaxVal() {
		indices = l.node("ArgMax", []string{x}, attr{"axis", axis}, attr{"keepdims", 1}, attr{"select_last_index", 1})
	} else {
		reversed := l.node("Slice", []string{x, l.ints("last", -1), l.ints("first", math.MinInt32), l.ints("axis", axis), l.ints("step", -1)})
		best := l.nodes("TopK", 2, []string{reversed, l.ints("top_k", k)}, attr{"axis", axis})
		values = best[0]
		indices = l.node("Sub", []string{l.integer("end", ds[axis].n-1), best[1]})
	}
	indices = l.node("Cast", []string{indices}, float)
	ds = append([]dim(nil), ds...)
	ds[axis].n = k
	y := indices
	switch {
	case p.GetOutMaxVal() && byAxis:
		y = values
	case p.GetOutMaxVal():
		y, ds[1].n = l.node("Concat", []string{indices, values}, attr{"axis", 1}), 2*k
	}
	l.set(0, l.reshape(y, ds, l.dims(l.top[0])))
	return nil
}
