package topology

// endQueue is a binary heap of paces, ordered by the end of their next message, then by number. Each pace is in it at most once, and its time
// can be changed.
type endQueue struct {
	heap  []int32
	at    []VTime // time of each pace
	place []int32 // position of each pace in the heap; negative: not in it
}

// grow makes room for one more pace.
func (q *endQueue) grow() {
	q.at = append(q.at, 0)
	q.place = append(q.place, -1)
}

func (q *endQueue) peek() (VTime, bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.at[q.heap[0]], true
}

// set inserts a pace, or changes its time.
func (q *endQueue) set(id int32, at VTime) {
	if q.place[id] < 0 {
		q.place[id] = int32(len(q.heap))
		q.heap = append(q.heap, id)
	}
	q.at[id] = at
	q.up(q.place[id])
	q.down(q.place[id])
}

// pop removes and returns the first pace.
func (q *endQueue) pop() (id int32, at VTime) {
	id = q.heap[0]
	q.remove(id)
	return id, q.at[id]
}

// remove removes a pace if it is in the queue.
func (q *endQueue) remove(id int32) {
	place, last := q.place[id], int32(len(q.heap)-1)
	if place < 0 {
		return
	}
	q.swap(place, last)
	q.heap = q.heap[:last]
	q.place[id] = -1
	if place < last {
		q.up(place)
		q.down(place)
	}
}

func (q *endQueue) less(i, j int32) bool {
	a, b := q.heap[i], q.heap[j]
	return q.at[a] < q.at[b] || q.at[a] == q.at[b] && a < b
}

func (q *endQueue) swap(i, j int32) {
	q.heap[i], q.heap[j] = q.heap[j], q.heap[i]
	q.place[q.heap[i]], q.place[q.heap[j]] = i, j
}

func (q *endQueue) up(i int32) {
	for parent := (i - 1) / 2; i > 0 && q.less(i, parent); parent = (i - 1) / 2 {
		q.swap(i, parent)
		i = parent
	}
}

func (q *endQueue) down(i int32) {
	for {
		child := 2*i + 1
		if int(child) >= len(q.heap) {
			return
		}
		if int(child)+1 < len(q.heap) && q.less(child+1, child) {
			child++
		}
		if !q.less(child, i) {
			return
		}
		q.swap(i, child)
		i = child
	}
}
