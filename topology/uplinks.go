package topology

// uplinks shares the supernodes' uplinks among the messages that cross. Messages with the same links and the same limit
// get the same rate at any time, so they form a class: the class serves all of its messages alike, and a message ends when
// the class has served its bytes since it joined.
type uplinks struct {
	classes []flowClass
	index   map[flowKey]int32 // of classes in use
	unused  []int32           // classes that can be used again
	emptied []int32           // classes whose last message has ended since the rates were worked out
	ends    endQueue
	rates   filling
	changed bool    // messages joined or ended since the rates were worked out
	ended   []int32 // scratch: senders of ended messages
}

// flowKey is what makes messages alike: the supernodes they leave and enter, and the most that one of them can reach.
type flowKey struct {
	up, down int32
	limit    float64 // bytes a second
}

// flowClass brings its figures up to date only when its rate changes or a message joins or ends.
type flowClass struct {
	key    flowKey
	flows  heap[flow]
	served float64 // bytes that a message would have got since the class is in use
	at     VTime   // when served was right
	rate   float64 // of each message, bytes a second
	next   float64 // the served at which the planned end falls
}

// flow is a message: it ends when its class has served end.
type flow struct {
	end  float64
	from int32
}

// before orders flows by their ends, then by sender.
func (f flow) before(g flow) bool { return f.end < g.end || f.end == g.end && f.from < g.from }

func newUplinks(supernodes int, bandwidth float64) *uplinks {
	return &uplinks{index: map[flowKey]int32{}, rates: newFilling(supernodes, bandwidth)}
}

// join adds a message.
func (u *uplinks) join(at VTime, key flowKey, from int32, bytes float64) {
	id, ok := u.index[key]
	if !ok {
		id = u.use(at, key)
	}
	c := &u.classes[id]
	c.serve(at)
	c.flows.push(flow{c.served + bytes, from})
	u.rates.count(id, 1)
	u.changed = true
}

// use begins a class.
func (u *uplinks) use(at VTime, key flowKey) int32 {
	if len(u.unused) == 0 {
		u.unused = append(u.unused, int32(len(u.classes)))
		u.classes = append(u.classes, flowClass{})
		u.ends.grow()
	}
	id := u.unused[len(u.unused)-1]
	u.unused = u.unused[:len(u.unused)-1]
	u.index[key] = id
	u.classes[id] = flowClass{key: key, flows: u.classes[id].flows, at: at}
	u.rates.add(id, key)
	return id
}

// serve brings the class up to a time.
func (c *flowClass) serve(at VTime) {
	if at > c.at {
		c.served += c.rate * float64(at-c.at)
		c.at = at
	}
}

// finish takes the messages out that end with the first planned end, and returns their senders; valid until the next call.
func (u *uplinks) finish() []int32 {
	id, at := u.ends.pop()
	c := &u.classes[id]
	c.served, c.at = c.next, at
	u.ended = u.ended[:0]
	for len(c.flows) > 0 && c.flows[0].end <= c.served*(1+simultaneous) {
		u.ended = append(u.ended, c.flows.pop().from)
	}
	if len(c.flows) == 0 {
		u.emptied = append(u.emptied, id)
	}
	u.rates.count(id, -int32(len(u.ended)))
	u.changed = true
	return u.ended
}

// share works out the rates and plans the ends anew.
func (u *uplinks) share(now VTime) {
	u.changed = false
	for _, id := range u.emptied {
		c := &u.classes[id]
		if _, used := u.index[c.key]; used && len(c.flows) == 0 {
			u.rates.remove(id)
			delete(u.index, c.key)
			u.unused = append(u.unused, id)
		}
	}
	u.emptied = u.emptied[:0]
	for _, id := range u.rates.fill() {
		c := &u.classes[id]
		c.serve(now)
		c.rate, c.next = u.rates.shares[id].rate, c.flows[0].end
		u.ends.set(id, c.at+VTime(max(0, c.next-c.served)/c.rate))
	}
}
