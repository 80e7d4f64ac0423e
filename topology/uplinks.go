package topology

import "math"

// uplinks shares the supernodes' uplinks among the messages between supernodes. Messages with the same links and the same limit always get
// the same rate, so they form a class. A class serves all of its messages alike: a message ends when the class has served its bytes since it
// joined.
//
// All classes that a full link leads get the same rate too, so they share its pace: a change of the pace's rate need not be applied to each
// of them. A class at its own limit has its own pace.
type uplinks struct {
	classes []flowClass
	paces   []pace            // paces of links, then of classes
	index   map[flowKey]int32 // number of each class in use
	unused  []int32           // numbers of classes that can be reused
	touched []int32           // classes whose messages joined or ended since rates were last computed
	ends    endQueue          // ends of the next messages of paces
	rates   filling
	ended   []int32 // scratch: senders of ended messages
}

// flowKey identifies a class of messages: the supernodes that they leave and enter, and the highest rate of one message.
type flowKey struct {
	up, down int32
	limit    float64 // bytes a second
}

// flowClass is a class of messages. It has served as many bytes as its pace, plus ahead.
type flowClass struct {
	key     flowKey
	flows   heap    // messages, ordered by what the class will have served at their end; the number is the sender
	pace    int32   // None until rates are computed
	touched bool    // the class is in touched
	ahead   float64 // bytes
	next    float64 // bytes that the pace will have served when the next message ends
}

// pace is a rate of service. It is brought up to date only when its rate changes, or a message of its classes joins or ends.
type pace struct {
	served  float64 // bytes served for each message
	at      VTime   // the time to which served refers
	rate    float64 // bytes a second
	next    float64 // the smallest next of its classes; infinite if it has none
	regroup bool    // next must be recomputed
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

// use returns the class of a key, which it creates if necessary.
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

// served returns the bytes that a class has served at a given time.
func (u *uplinks) served(c *flowClass, at VTime) float64 {
	if c.pace == None {
		return c.ahead
	}
	p := &u.paces[c.pace]
	p.serve(at)
	return p.served + c.ahead
}

// serve brings the pace up to date.
func (p *pace) serve(at VTime) {
	if at > p.at {
		p.served += p.rate * float64(at-p.at)
		p.at = at
	}
}

// count records that messages of a class joined or ended.
func (u *uplinks) count(id, messages int32) {
	u.rates.count(id, messages)
	if c := &u.classes[id]; !c.touched {
		c.touched = true
		u.touched = append(u.touched, id)
	}
}

// changed reports whether messages joined or ended since rates were last computed.
func (u *uplinks) changed() bool { return len(u.touched) > 0 }

// own returns the number of the pace of a class at its own limit.
func (u *uplinks) own(class int32) int32 { return int32(len(u.rates.links)) + class }

// finish removes the messages that end at the first planned end, and returns their senders; the result is valid until the next call.
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

// finishClass removes the messages of a class that have ended when its pace has served the given bytes.
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

// plan computes the next end of a message.
func (c *flowClass) plan() {
	c.next = math.Inf(1)
	if len(c.flows) > 0 {
		c.next = c.flows[0].key - c.ahead
	}
}

// share recomputes the rates and the planned ends.
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

// drop removes a class without messages.
func (u *uplinks) drop(id int32) {
	c := &u.classes[id]
	u.rates.remove(id)
	u.ends.remove(u.own(id))
	u.paces[c.pace].regroup = true
	delete(u.index, c.key)
	u.unused = append(u.unused, id)
}

// keepPace moves a class to the pace of its present leader.
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

// planLink sets a link's pace to its level, and plans the first end of the messages at this pace.
func (u *uplinks) planLink(link int32, now VTime) {
	l, p := &u.rates.links[link], &u.paces[link]
	if math.IsInf(l.level, 1) { // the link leads no class
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
