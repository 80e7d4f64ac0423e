package topology

// item is an element of a heap: a number and its key.
type item struct {
	key float64
	id  int64
}

// before orders items by their keys, then by number.
func (a item) before(b item) bool { return a.key < b.key || a.key == b.key && a.id < b.id }

// heap is a binary heap: no item is before the first one.
type heap []item

// peek returns the first item; false if there is none.
func (q heap) peek() (first item, ok bool) {
	if len(q) == 0 {
		return first, false
	}
	return q[0], true
}

func (q *heap) push(v item) {
	h := append(*q, v)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !v.before(h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = v
	*q = h
}

// pop removes and returns the first item.
func (q *heap) pop() item {
	h := *q
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	if len(h) == 0 {
		return first
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(last) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = last
	return first
}
