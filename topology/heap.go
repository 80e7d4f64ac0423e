package topology

// heap is a binary heap: none of its values comes before the first one.
type heap[T interface{ before(T) bool }] []T

// peek returns the first value; false if there is none.
func (q heap[T]) peek() (first T, ok bool) {
	if len(q) == 0 {
		return first, false
	}
	return q[0], true
}

func (q *heap[T]) push(v T) {
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

// pop takes the first value out.
func (q *heap[T]) pop() T {
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
