package topology

import (
	"container/heap"
	"math"
)

// uplinks shares the supernodes' uplinks among the messages that cross. Messages with the same links and the same limit
// get the same rate at any time, so they form a class: the class serves all of its messages alike, and a message ends when
// the class has served its bytes since it joined.
type uplinks struct {
	bandwidth float64 // of an uplink, each way, bytes a second
	classes   []flowClass
	index     map[flowKey]int32
	active    []int32 // classes with messages, and some whose last has ended
	changed   bool    // messages joined or ended since the rates were worked out
	events    *eventQueue

	// Scratch: bandwidth and messages not yet given a rate, of each uplink upwards, then of each downwards; classes
	// without a rate, and those that get one; senders of ended messages.
	free    []float64
	waiting []int
	open    []int32
	settled []int32
	ended   []int32
}

// flowKey is what makes messages alike: the supernodes they leave and enter, and the most that one of them can reach.
type flowKey struct {
	up, down int32
	limit    float64 // bytes a second
}

type flowClass struct {
	flowKey
	flows   flowHeap
	active  bool
	served  float64 // bytes that a message would have got since the class became active
	at      VTime   // when served was right
	rate    float64 // of each message, bytes a second
	planned float64 // the served at which the planned end event falls
	version int32
}

// flow is a message: it ends when its class has served end.
type flow struct {
	end  float64
	from int32
}

func newUplinks(supernodes int, bandwidth float64, events *eventQueue) *uplinks {
	return &uplinks{
		bandwidth: bandwidth, index: map[flowKey]int32{}, events: events,
		free: make([]float64, 2*supernodes), waiting: make([]int, 2*supernodes),
	}
}

// join adds a message.
func (u *uplinks) join(at VTime, key flowKey, from int32, bytes float64) {
	id, ok := u.index[key]
	if !ok {
		id = int32(len(u.classes))
		u.index[key] = id
		u.classes = append(u.classes, flowClass{flowKey: key})
	}
	c := &u.classes[id]
	if !c.active {
		c.active, c.served, c.rate, c.planned = true, 0, 0, -1
		c.at = at
		u.active = append(u.active, id)
	}
	c.serve(at)
	heap.Push(&c.flows, flow{c.served + bytes, from})
	u.changed = true
}

// serve brings the class up to a time.
func (c *flowClass) serve(at VTime) {
	if at > c.at {
		c.served += c.rate * float64(at-c.at)
		c.at = at
	}
}

// stale reports whether an end event is of an older plan.
func (u *uplinks) stale(e event) bool { return u.classes[e.id].version != e.version }

// finish takes the messages out that end with an event, and returns their senders; valid until the next call.
func (u *uplinks) finish(e event) []int32 {
	c := &u.classes[e.id]
	c.served, c.at = c.planned, e.at
	u.ended = u.ended[:0]
	for len(c.flows) > 0 && c.flows[0].end <= c.served*(1+simultaneous) {
		u.ended = append(u.ended, heap.Pop(&c.flows).(flow).from)
	}
	c.planned = -1
	u.changed = true
	return u.ended
}

// share works out the max-min fair rates by progressive filling: the link with the least bandwidth for each of its messages
// settles those, and what is left is shared among the others. It plans the ends anew.
func (u *uplinks) share(now VTime) {
	u.changed = false
	for i := range u.free {
		u.free[i], u.waiting[i] = u.bandwidth, 0
	}
	u.settleEnded(now)
	half := int32(len(u.free) / 2)
	for u.open = append(u.open[:0], u.active...); len(u.open) > 0; {
		least := math.Inf(1)
		for _, id := range u.open {
			least = min(least, u.fair(&u.classes[id]))
		}
		rest := u.open[:0]
		settled := u.settled[:0]
		for _, id := range u.open {
			if u.fair(&u.classes[id]) <= least*(1+simultaneous) {
				settled = append(settled, id)
			} else {
				rest = append(rest, id)
			}
		}
		for _, id := range settled {
			c := &u.classes[id]
			for _, link := range [2]int32{c.up, half + c.down} {
				u.waiting[link] -= len(c.flows)
				u.free[link] = max(0, u.free[link]-least*float64(len(c.flows)))
			}
			u.plan(id, least)
		}
		u.open, u.settled = rest, settled
	}
}

// settleEnded drops classes whose messages have all ended, brings the others up to date, and counts their messages by link.
func (u *uplinks) settleEnded(now VTime) {
	half := int32(len(u.free) / 2)
	active := u.active[:0]
	for _, id := range u.active {
		c := &u.classes[id]
		if len(c.flows) == 0 {
			c.active = false
			c.version++
			continue
		}
		c.serve(now)
		u.waiting[c.up] += len(c.flows)
		u.waiting[half+c.down] += len(c.flows)
		active = append(active, id)
	}
	u.active = active
}

// fair is what each message of a class would get of its links as they are now.
func (u *uplinks) fair(c *flowClass) float64 {
	half := int32(len(u.free) / 2)
	return min(c.limit, u.free[c.up]/float64(u.waiting[c.up]), u.free[half+c.down]/float64(u.waiting[half+c.down]))
}

// plan sets a class's rate and the event of its next end, unless both stand.
func (u *uplinks) plan(id int32, rate float64) {
	c := &u.classes[id]
	end := c.flows[0].end
	if c.rate == rate && c.planned == end {
		return
	}
	c.rate, c.planned = rate, end
	c.version++
	u.events.push(event{at: c.at + VTime(max(0, end-c.served)/rate), kind: flowEnds, id: id, version: c.version})
}

// flowHeap orders flows by their ends, then by sender.
type flowHeap []flow

func (h flowHeap) Len() int { return len(h) }
func (h flowHeap) Less(i, j int) bool {
	return h[i].end < h[j].end || h[i].end == h[j].end && h[i].from < h[j].from
}
func (h flowHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *flowHeap) Push(x any)   { *h = append(*h, x.(flow)) }
func (h *flowHeap) Pop() any {
	last := len(*h) - 1
	f := (*h)[last]
	*h = (*h)[:last]
	return f
}
