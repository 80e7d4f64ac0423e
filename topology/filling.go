package topology

import (
	"math"
	"slices"
)

// filling works out max-min fair rates of classes of messages by progressive filling: the link with the least bandwidth
// for each of its messages settles those, and what is left is shared among the others. A class's limit settles it where
// that is less than its links give.
//
// It runs after every change of the traffic, so what it reads of a class is kept here, close together, and the lists by
// link and by limit are kept from run to run.
type filling struct {
	bandwidth float64 // of a link, bytes a second
	shares    []share // by class
	links     []fillingLink
	byLimit   []int32 // classes with messages, ordered by limit
	open      []int32 // links with messages without a rate in this run
	fullest   []int32 // of those, the ones that settle their classes at this level
	changed   []int32 // classes to plan anew after this run
	run       int32
}

// share is a class as the filling sees it.
type share struct {
	links    [2]int32
	messages int32
	settled  int32 // the run that settled it last
	limit    float64
	rate     float64 // for each message
	dirty    bool    // messages joined or ended since the last run
}

// fillingLink is an uplink upwards (by supernode) or downwards (by supernodes + supernode).
type fillingLink struct {
	free     float64 // bandwidth not given away in this run
	fair     float64 // of free, for each message without a rate
	waiting  int32   // messages without a rate in this run
	messages int32
	classes  []int32
}

func newFilling(supernodes int, bandwidth float64) filling {
	return filling{bandwidth: bandwidth, links: make([]fillingLink, 2*supernodes)}
}

// add makes a class known; its number is at most that of the classes so far.
func (f *filling) add(id int32, key flowKey) {
	if int(id) == len(f.shares) {
		f.shares = append(f.shares, share{})
	}
	s := share{links: [2]int32{key.up, int32(len(f.links)/2) + key.down}, limit: key.limit}
	f.shares[id] = s
	for _, link := range s.links {
		f.links[link].classes = append(f.links[link].classes, id)
	}
	at, _ := slices.BinarySearchFunc(f.byLimit, key.limit, func(other int32, limit float64) int {
		if f.shares[other].limit <= limit {
			return -1
		}
		return 1
	})
	f.byLimit = slices.Insert(f.byLimit, at, id)
}

// remove forgets a class without messages.
func (f *filling) remove(id int32) {
	drop := func(list []int32) []int32 {
		at := slices.Index(list, id)
		return slices.Delete(list, at, at+1)
	}
	for _, link := range f.shares[id].links {
		f.links[link].classes = drop(f.links[link].classes)
	}
	f.byLimit = drop(f.byLimit)
}

// count adds messages to a class, or takes some away.
func (f *filling) count(id, messages int32) {
	s := &f.shares[id]
	s.messages += messages
	s.dirty = true
	for _, link := range s.links {
		f.links[link].messages += messages
	}
}

// fill works out all rates and returns the classes whose rate or messages changed since the last call.
func (f *filling) fill() []int32 {
	f.start()
	for byLimit := f.byLimit; ; {
		for len(byLimit) > 0 && f.shares[byLimit[0]].settled == f.run {
			byLimit = byLimit[1:]
		}
		if len(byLimit) == 0 {
			return f.changed
		}
		rate := f.level(f.shares[byLimit[0]].limit)
		for _, link := range f.fullest {
			for _, id := range f.links[link].classes {
				f.settle(id, rate)
			}
		}
		for _, id := range byLimit {
			if f.shares[id].limit > rate*(1+simultaneous) {
				break
			}
			f.settle(id, rate)
		}
	}
}

// start takes all rates back.
func (f *filling) start() {
	f.run++
	f.open, f.changed = f.open[:0], f.changed[:0]
	for i := range f.links {
		l := &f.links[i]
		if l.messages > 0 {
			l.free, l.waiting, l.fair = f.bandwidth, l.messages, f.bandwidth/float64(l.messages)
			f.open = append(f.open, int32(i))
		}
	}
}

// level returns the rate at which the next messages settle, at most limit, and leaves the links that cause it in fullest.
func (f *filling) level(limit float64) float64 {
	rate := math.Inf(1)
	open := f.open[:0]
	for _, link := range f.open {
		if l := &f.links[link]; l.waiting > 0 {
			open = append(open, link)
			rate = min(rate, l.fair)
		}
	}
	f.open = open
	rate = min(rate, limit)
	f.fullest = f.fullest[:0]
	for _, link := range f.open {
		if f.links[link].fair <= rate*(1+simultaneous) {
			f.fullest = append(f.fullest, link)
		}
	}
	return rate
}

// settle gives a class its rate, unless it has one, and takes its part from its links.
func (f *filling) settle(id int32, rate float64) {
	s := &f.shares[id]
	if s.settled == f.run {
		return
	}
	s.settled = f.run
	if s.rate != rate || s.dirty {
		s.rate, s.dirty = rate, false
		f.changed = append(f.changed, id)
	}
	for _, link := range s.links {
		l := &f.links[link]
		l.waiting -= s.messages
		l.free = max(0, l.free-rate*float64(s.messages))
		l.fair = l.free / float64(l.waiting)
	}
}
