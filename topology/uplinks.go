package topology

import "math"

// uplinks shares the supernodes' uplinks among the messages that cross. Messages with the same links and the same limit
// get the same rate at any time, so they form a class: the class serves all of its messages alike, and a message ends when
// the class has served its bytes since it joined.
//
// All classes that a full link leads get the same rate too, so they keep its pace: when its rate changes nothing needs to be
// done for each of them. A class that goes at its limit has a pace of its own.
type uplinks struct {
	classes []flowClass
	paces   []pace            // by link, then by class
	index   map[flowKey]int32 // of classes in use
	unused  []int32           // classes that can be used again
	touched []int32           // classes whose messages joined or ended since the rates were worked out
	ends    endQueue          // of paces
	rates   filling
	ended   []int32 // scratch: senders of ended messages
}

// flowKey is what makes messages alike: the supernodes they leave and enter, and the most that one of them can reach.
type flowKey struct {
	up, down int32
	limit    float64 // bytes a second
}

// flowClass has served as much as its pace, and ahead.
type flowClass struct {
	key     flowKey
	flows   heap    // messages: what the class has served when each ends, and its sender
	pace    int32   // None until rates are worked out
	touched bool    // it is one of those
	ahead   float64 // bytes
	next    float64 // what its pace has served when its next message ends
}

// pace is brought up to date only when its rate changes, or a message of its classes joins or ends.
type pace struct {
	served  float64 // bytes for each message
	at      VTime   // when served was right
	rate    float64 // bytes a second
	next    float64 // the least next of its classes; infinite if it has none
	regroup bool    // next is to be found anew
}

func newUplinks(supernodes int, bandwidth float64) *uplinks {
	u := &uplinks{index: map[flowKey]int32{}, rates: newFilling(supernodes, bandwidth), paces: make([]pace, 2*supernodes)}
	for i := range u.paces {
		u.paces[i].next = math.Inf(1)
		u.ends.grow()
	}
	return u
}

// join adds a message.
func (u *uplinks) join(at VTime, key flowKey, from int32, bytes float64) {
	id, ok := u.index[key]
	if !ok {
		id = u.use(key)
	}
	c := &u.classes[id]
	c.flows.push(item{u.served(c, at) + bytes, int64(from)})
	u.count(id, 1)
}

// use begins a class.
func (u *uplinks) use(key flowKey) int32 {
	if len(u.unused) == 0 {
		u.unused = append(u.unused, int32(len(u.classes)))
		u.classes = append(u.classes, flowClass{})
		u.paces = append(u.paces, pace{})
		u.ends.grow()
	}
	id := u.unused[len(u.unused)-1]
	u.unused = u.unused[:len(u.unused)-1]
	u.index[key] = id
	u.classes[id] = flowClass{key: key, flows: u.classes[id].flows, pace: None}
	u.rates.add(id, key)
	return id
}

// served returns what a class has served at a time.
func (u *uplinks) served(c *flowClass, at VTime) float64 {
	if c.pace == None {
		return c.ahead
	}
	p := &u.paces[c.pace]
	p.serve(at)
	return p.served + c.ahead
}

// serve brings the pace up to a time.
func (p *pace) serve(at VTime) {
	if at > p.at {
		p.served += p.rate * float64(at-p.at)
		p.at = at
	}
}

// count takes note that messages of a class joined, or ended.
func (u *uplinks) count(id, messages int32) {
	u.rates.count(id, messages)
	if c := &u.classes[id]; !c.touched {
		c.touched = true
		u.touched = append(u.touched, id)
	}
}

// changed reports whether messages joined or ended since the rates were worked out.
func (u *uplinks) changed() bool { return len(u.touched) > 0 }

// own returns the pace of a class that goes at its limit.
func (u *uplinks) own(class int32) int32 { return int32(len(u.rates.links)) + class }

// finish takes the messages out that end with the first planned end, and returns their senders; valid until the next call.
func (u *uplinks) finish() []int32 {
	id, at := u.ends.pop()
	p := &u.paces[id]
	p.served, p.at = p.next, at
	u.ended = u.ended[:0]
	if first := u.own(0); id >= first {
		u.finishClass(id-first, p.served)
		return u.ended
	}
	for _, class := range u.rates.links[id].classes {
		if u.classes[class].pace == id {
			u.finishClass(class, p.served)
		}
	}
	return u.ended
}

// finishClass takes out a class's messages that have ended when its pace has served so many bytes.
func (u *uplinks) finishClass(id int32, served float64) {
	c := &u.classes[id]
	before := len(c.flows)
	for served += simultaneous * max(0, served+c.ahead); c.next <= served; c.plan() {
		u.ended = append(u.ended, int32(c.flows.pop().id))
	}
	if ended := before - len(c.flows); ended > 0 {
		u.count(id, -int32(ended))
	}
}

// plan finds the next end of a message.
func (c *flowClass) plan() {
	c.next = math.Inf(1)
	if len(c.flows) > 0 {
		c.next = c.flows[0].key - c.ahead
	}
}

// share works out the rates and plans the ends anew.
func (u *uplinks) share(now VTime) {
	for _, id := range u.touched {
		if len(u.classes[id].flows) == 0 {
			u.drop(id)
		}
	}
	links, led := u.rates.fill()
	for _, id := range led {
		u.keepPace(id, now)
	}
	for _, id := range u.touched {
		u.classes[id].touched = false
		if len(u.classes[id].flows) > 0 {
			u.keepPace(id, now)
		}
	}
	u.touched = u.touched[:0]
	for _, link := range links {

		u.planLink(link, now)
	}
}

// drop ends a class without messages.
func (u *uplinks) drop(id int32) {
	c := &u.classes[id]
	u.rates.remove(id)
	u.ends.remove(u.own(id))
	u.paces[c.pace].regroup = true
	delete(u.index, c.key)
	u.unused = append(u.unused, id)
}

// keepPace lets a class go on at the pace of what leads it now.
func (u *uplinks) keepPace(id int32, now VTime) {
	c := &u.classes[id]
	own := u.own(id)
	to := u.rates.classes[id].leader
	if to == None {
		to = own
	}
	if to != c.pace {
		served := u.served(c, now)
		if c.pace != None {
			u.paces[c.pace].regroup = true
		}
		u.ends.remove(own)
		if to == own {
			u.paces[own] = pace{rate: c.key.limit, at: now}
		}
		u.paces[to].serve(now)
		c.pace, c.ahead = to, served-u.paces[to].served
	}
	c.plan()
	p := &u.paces[to]
	p.regroup = true
	if to == own {
		p.serve(now)
		p.next = c.next
		u.plan(own)
	}
}

// planLink brings a link's pace to its level, and plans the first end of the messages that keep it.
func (u *uplinks) planLink(link int32, now VTime) {
	l, p := &u.rates.links[link], &u.paces[link]
	if math.IsInf(l.level, 1) { // it leads nothing
		p.rate = 0
		u.ends.remove(link)
		return
	}
	p.serve(now)
	p.rate = l.level
	if p.regroup {
		p.regroup, p.next = false, math.Inf(1)
		for _, id := range l.classes {
			if c := &u.classes[id]; c.pace == link {
				p.next = min(p.next, c.next)
			}
		}
	}
	if math.IsInf(p.next, 1) {
		u.ends.remove(link)
		return
	}
	u.plan(link)
}

// plan plans a pace's next end.
func (u *uplinks) plan(pace int32) {
	p := &u.paces[pace]
	u.ends.set(pace, p.at+VTime(max(0, p.next-p.served)/p.rate))
}
