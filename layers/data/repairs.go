package data

import (
	"sync"

	"github.com/swcaffe/swcaffe/data"
)

// repairs are the images of a layer that were damaged and read as far as they go, by name. Several goroutines enter them.
type repairs struct {
	mu   sync.Mutex
	seen map[string]bool
}

// warnRepaired names a damaged image in the log, once.
func (l *batchLayer) warnRepaired(name, damage string) {
	r := &l.repaired
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	log := l.Device.Log
	if r.seen[name] || log == nil {
		return
	}
	r.seen[name] = true
	switch n := len(r.seen); {
	case n <= data.MostNamed:
		log.Warnf("layer %q: %s: the image is damaged and was read as far as it goes: %s", l.Param.GetName(), name, damage)
	case n == data.MostNamed+1:
		log.Warnf("layer %q: more than %d damaged images; the others are not named", l.Param.GetName(), data.MostNamed)
	}
}

// Repaired is the number of images that were damaged and read as far as they go.
func (l *batchLayer) Repaired() int {
	l.repaired.mu.Lock()
	defer l.repaired.mu.Unlock()
	return len(l.repaired.seen)
}

// countRepaired says how many images were damaged.
func (l *batchLayer) countRepaired() {
	if n := l.Repaired(); n > 0 {
		l.Device.Log.Warnf("layer %q: images that are damaged and were read as far as they go: %d; the first ones are named above", l.Param.GetName(), n)
	}
}
