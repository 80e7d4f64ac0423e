package topology

import (
	"math"
	"slices"
)

// filling maintains the max-min fair rates of classes of messages. A full link has a level: the rate of each of its messages that is not
// limited further elsewhere. The rate of a class is the smallest of its own limit and the levels of its two links. The one that determines
// the rate is the leader of the class.
//
// A change of the traffic is propagated only as far as levels change. First, the links that it touches are opened: they lose their level. So
// do, transitively, full links at the other ends of the classes that the opened links led. Then levels are determined in rising order, as in
// progressive filling: the open link that fills first gets its level, which fixes how much its messages take from other links. A full link
// that was not opened is opened if one of its messages now gets less elsewhere. Finally, links that were not full are checked: if one of them
// is now overloaded, it is touched, and everything is repeated.
type filling struct {
	bandwidth float64 // bandwidth of a link in bytes a second
	classes   []fillingClass
	links     []fillingLink
	touched   []int32 // links to open in the next run; some more than once
	opened    []int32 // links that were opened in this call of fill; some more than once
	followed  int     // number of opened links that have opened others
	led       []int32 // classes whose leader changed in this call; some more than once
	shares    int     // how many times a link looked at one of its classes
	queue     heap    // open links, ordered by the level at which they would be full
}

// fillingClass is the state of a class.
type fillingClass struct {
	links    [2]int32
	messages int32
	leader   int32 // the leading link; None: the class's own limit
	limit    float64
}

// fillingLink is an uplink: number supernode is the upward direction, number supernodes + supernode the downward one.
type fillingLink struct {
	level    float64 // infinite if the link is not full, or open
	spare    float64 // unused bandwidth of a link that is not full, up to rounding
	state    linkState
	messages int32
	classes  []int32

	// For an open link:
	was     float64 // its level before
	key     float64 // its key in the queue
	changed bool    // the link changed since it was queued: key is only a lower bound
	counted bool    // the following fields are valid
	free    float64 // bandwidth left by messages that get less than capped elsewhere
	waiting int32   // number of other messages
	capped  float64
	next    float64 // the smallest rate that one of these gets elsewhere
}

type linkState uint8

const (
	linkSettled linkState = iota // the link's level is from an earlier run
	linkOpen                     // the link lost its level in this run
	linkDecided                  // the link got its level in this run
)

func newFilling(supernodes int, bandwidth float64) filling {
	f := filling{bandwidth: bandwidth, links: make([]fillingLink, 2*supernodes)}
	for i := range f.links {
		f.links[i].level = math.Inf(1)
	}
	return f
}

// add adds a class. Its number is that of a removed class or the next one.
func (f *filling) add(id int32, key flowKey) {
	if int(id) == len(f.classes) {
		f.classes = append(f.classes, fillingClass{})
	}
	c := fillingClass{links: [2]int32{key.up, int32(len(f.links)/2) + key.down}, limit: key.limit, leader: None}
	f.classes[id] = c
	for _, link := range c.links {
		f.links[link].classes = append(f.links[link].classes, id)
	}
}

// remove removes a class that has no messages.
func (f *filling) remove(id int32) {
	for _, link := range f.classes[id].links {
		l := &f.links[link]
		at := slices.Index(l.classes, id)
		l.classes = slices.Delete(l.classes, at, at+1)
	}
}

// count adds messages to a class; a negative number removes some.
func (f *filling) count(id, messages int32) {
	c := &f.classes[id]
	c.messages += messages
	for _, link := range c.links {
		f.links[link].messages += messages
		f.touched = append(f.touched, link)
	}
}

// fill computes levels and leaders after changes of the traffic. It returns the links whose level, or whose leadership of classes, may have
// changed since the last call, and the classes whose leader changed; both may contain duplicates.
func (f *filling) fill() (links, led []int32) {
	f.opened, f.followed, f.led = f.opened[:0], 0, f.led[:0]
	for len(f.touched) > 0 {
		first := len(f.opened)
		for _, link := range f.touched {
			f.open(link)
		}
		f.touched = f.touched[:0]
		f.follow(0)
		for len(f.queue) > 0 {
			f.settle(f.queue.pop())
		}
		f.close(f.opened[first:])
	}
	return f.opened, f.led
}

// open takes a link's level away.
func (f *filling) open(link int32) {
	l := &f.links[link]
	if l.state != linkSettled {
		return
	}
	l.was = l.level
	l.state, l.level, l.counted, l.key = linkOpen, math.Inf(1), false, math.NaN()
	f.opened = append(f.opened, link)
}

// follow opens the links that depend on those opened last, and queues all. Levels below level are final.
func (f *filling) follow(level float64) {
	first := f.followed
	for ; f.followed < len(f.opened); f.followed++ {
		link := f.opened[f.followed]
		if l := &f.links[link]; l.was < math.Inf(1) {
			for _, id := range l.classes {
				f.forget(id, link, level)
			}
		}
	}
	for _, link := range f.opened[first:] {
		f.recount(link)
		f.enqueue(link, f.links[link].fullAt())
	}
}

// forget updates a class's other link when this link loses its level.
func (f *filling) forget(id, link int32, level float64) {
	c := &f.classes[id]
	other := c.other(link)
	o := &f.links[other]
	switch {
	case o.state == linkOpen && o.counted:
		o.counted, o.changed = false, true
		f.enqueue(other, level)
	case o.state != linkSettled || c.leader != link:
	case o.full():
		f.open(other)
	default:
		o.spare += f.links[link].was * float64(c.messages)
	}
}

func (f *filling) enqueue(link int32, key float64) {
	f.links[link].key = key
	if !math.IsInf(key, 1) {
		f.queue.push(item{key, int64(link)})
	}
}

// settle fixes the level of the first link in the queue, unless the level turns out to be higher.
func (f *filling) settle(first item) {
	link := int32(first.id)
	l := &f.links[link]
	if l.state != linkOpen || first.key != l.key {
		return // it is queued again with a higher level
	}
	if l.changed {
		if !l.counted || l.waiting > 0 && l.fullAt() > l.next {
			f.recount(link)
		}
		l.changed = false
		level := max(l.fullAt(), l.key)
		if next, any := f.queue.peek(); math.IsInf(level, 1) || any && next.key < level {
			f.enqueue(link, level)
			return
		}
		l.key = level
	}
	l.state, l.level = linkDecided, l.key
	for _, id := range l.classes {
		f.limit(id, link)
	}
	f.follow(l.level)
}

// limit updates a class, and its other link, when this link gets its level.
func (f *filling) limit(id, link int32) {
	c, level := &f.classes[id], f.links[link].level
	other, leader := c.other(link), c.leader
	o := &f.links[other]
	switch {
	case c.limit <= min(level, o.level):
		f.lead(id, None)
	case o.level < level || o.level == level && leader == other:
		f.lead(id, other)
	default:
		f.lead(id, link)
	}
	rate := min(level, c.limit)
	switch {
	case o.state == linkOpen:
		o.limit(c, rate)
	case o.state == linkDecided:
	case !o.full() && leader == link:
		o.spare -= rate * float64(c.messages)
	case !o.full():
		o.spare += (c.limit - rate) * float64(c.messages)
	case rate < o.level && rate < c.limit:
		f.open(other)
	}
}

// limit gives an open link the largest rate that messages of a class get elsewhere, in place of their own limit.
func (l *fillingLink) limit(c *fillingClass, rate float64) {
	switch {
	case !l.counted || rate == c.limit:
		return
	case c.limit < l.capped:
		l.free += (c.limit - rate) * float64(c.messages)
	default:
		l.free -= rate * float64(c.messages)
		l.waiting -= c.messages
	}
	l.changed = true
}

func (f *filling) lead(id, leader int32) {
	if c := &f.classes[id]; c.leader != leader {
		c.leader = leader
		f.led = append(f.led, id)
	}
}

// recount determines which messages of an open link get less elsewhere, as far as limits and other links' levels are known.
func (f *filling) recount(link int32) {
	l := &f.links[link]
	l.counted, l.changed = true, false
	f.shares += len(l.classes)
	for level := f.bandwidth / float64(l.messages); ; level = l.fullAt() {
		l.free, l.waiting, l.capped, l.next = f.bandwidth, l.messages, level, math.Inf(1)
		for _, id := range l.classes {
			c := &f.classes[id]
			if most := min(c.limit, f.links[c.other(link)].level); most < level {
				l.free -= most * float64(c.messages)
				l.waiting -= c.messages
			} else {
				l.next = min(l.next, most)
			}
		}
		if l.fullAt() <= l.next {
			return
		}
	}
}

// fullAt returns the level at which an open link is full, infinite if it cannot be; the link has been counted.
func (l *fillingLink) fullAt() float64 {
	if l.waiting == 0 {
		return math.Inf(1)
	}
	return l.free / float64(l.waiting)
}

// full reports whether a link has a level.
func (l *fillingLink) full() bool { return l.level < math.Inf(1) }

// rounding bounds the accumulated rounding error of a link's spare bandwidth, relative to its bandwidth. Smaller spare bandwidths are
// computed anew.
const rounding = 1e-9

// close ends a run for the links that it opened. It touches links that were not opened and are now overloaded.
func (f *filling) close(opened []int32) {
	for _, link := range opened {
		l := &f.links[link]
		if l.state == linkOpen { // the link is not full
			l.spare = l.free
		}
		if l.was == math.Inf(1) {
			continue
		}
		for _, id := range l.classes {
			c := &f.classes[id]
			other := c.other(link)
			o := &f.links[other]
			passed := o.state == linkSettled && !o.full()
			if l.state == linkOpen && c.leader == link {
				f.lead(id, None)
				if passed {
					o.spare -= c.limit * float64(c.messages)
				}
			}
			if passed && o.spare < rounding*f.bandwidth && f.overloaded(other) {
				f.touched = append(f.touched, other)
			}
		}
	}
	for _, link := range opened {
		f.links[link].state = linkSettled
	}
}

// overloaded computes the spare bandwidth of a link that is not full, and reports whether the link carries more than it can.
func (f *filling) overloaded(link int32) bool {
	l := &f.links[link]
	l.spare = f.bandwidth
	for _, id := range l.classes {
		c := &f.classes[id]
		l.spare -= min(c.limit, f.links[c.other(link)].level) * float64(c.messages)
	}
	return l.spare < -simultaneous*f.bandwidth
}

// other returns a class's other link.
func (c *fillingClass) other(link int32) int32 { return c.links[0] ^ c.links[1] ^ link }
