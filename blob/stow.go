package blob

import (
	"runtime"
	"sync"

	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// A layer of a net that only runs forward often makes something of its weights that it reads in their place: packed weights, or weights that include a
// normalisation behind the layer. It can then stow the weights' values. Their memory is given back. What the layer has made brings them back when somebody
// looks at them, or the file that they were loaded from.

// keepsFiles says that files of frozen values stay open: on Windows nobody could replace them.
const keepsFiles = runtime.GOOS != "windows"

// Restorer brings stowed values back.
type Restorer interface {
	// Restore writes the values, bit by bit, to memory of their number.
	Restore(values []float32)
}

// stowage is the state of values that may be stowed.
type stowage struct {
	sync.Mutex
	by    Restorer  // nil if the values are in memory
	room  []float32 // where values of a file will be, if there is memory for them already
	count int       // of the stowed values
	holds int       // layers that read the values now
	seen  bool      // a slice of the values is with somebody who may keep it
	stays bool      // the values are not stowed, because a layer reads them in every run
	file  *inFile   // where frozen values came from

	made any    // see Made
	from uint64 // the version of the values that it was made of
}

// Hold returns the values to a layer that reads them until it calls Free, or stows them, and keeps no slice of them. They stay in memory meanwhile.
// reader says that the layer reads them in every run: if another layer has stowed them nevertheless, nobody does so again.
func (b *Blob) Hold(reader bool) []float32 {
	s, n := b.storageOf(&b.data), b.Count()
	if s.stow == nil {
		return s.slice(n)
	}
	s.stow.Lock()
	defer s.stow.Unlock()
	s.stow.stays = s.stow.stays || reader && s.stow.by != nil
	s.bring()
	s.stow.holds++
	return s.slice(n)
}

// Free ends a Hold.
func (b *Blob) Free() {
	if k := b.storageOf(&b.data).stow; k != nil {
		k.Lock()
		k.holds--
		k.Unlock()
	}
}

// Stow drops the values, since by can bring back those of version v, and ends the caller's Hold if it has one. If the values are others by now, if
// somebody may write to them or if other layers read them, it does nothing and is not ok. Whoever has a slice of them keeps it; if nobody has, Stow
// returns their memory, with the values in it. Values that are still in their file (LoadLater) stay there if they are frozen; by takes the file's place if not.
func (b *Blob) Stow(v Version, by Restorer, held bool) (memory []float32, ok bool) {
	s, others := b.storageOf(&b.data), 0
	k := s.stow
	if k == nil {
		return nil, false
	}
	k.Lock()
	defer k.Unlock()
	if others = k.holds; held {
		others--
	}
	if f, ok := k.by.(*inFile); ok && !s.frozen && !s.open && v == (Version{s, s.version}) {
		f.end() // nobody has looked, and there is something else in the file's place
		k.by = by
		return nil, true
	}
	if k.by != nil || k.stays || others > 0 || s.open || v != (Version{s, s.version}) || len(s.buf) == 0 {
		return nil, false
	}
	if k.by, k.count, k.holds = by, len(s.buf), 0; !k.seen {
		memory = s.buf
	}
	s.buf, k.seen = nil, false
	return memory, true
}

// Parts calls use with a function that reads values from the file that they are still in: as many as dst holds, from number first on. If they are in memory, it
// does nothing.
func (b *Blob) Parts(use func(read func(dst []float32, first int) error) error) error {
	s := b.storageOf(&b.data)
	k := s.stow
	if k == nil || s.frozen && !keepsFiles {
		return nil
	}
	k.Lock()
	f, ok := k.by.(*inFile)
	if ok {
		f.from.Keep()
	}
	k.Unlock()
	if !ok {
		return nil
	}
	defer f.end()
	return use(f.part)
}

// Origin returns what brings frozen values back from the file that they come from (LoadLater), which it keeps open; nil if there is none.
func (b *Blob) Origin() Restorer {
	s := b.storageOf(&b.data)
	k := s.stow
	if k == nil || !s.frozen {
		return nil
	}
	k.Lock()
	defer k.Unlock()
	if f, ok := k.by.(*inFile); ok {
		return f
	}
	if k.file == nil {
		return nil // not a nil *inFile
	}
	return k.file
}

// Stowed reports whether the values are stowed.
func (b *Blob) Stowed() bool {
	k := b.storageOf(&b.data).stow
	if k == nil {
		return false
	}
	k.Lock()
	defer k.Unlock()
	return k.by != nil
}

// look returns n values to somebody who may keep the slice, and write to it.
func (s *storage) look(n int, write bool) []float32 {
	if s.stow != nil {
		s.stow.Lock()
		defer s.stow.Unlock()
		s.bring()
		s.stow.seen = true
	}
	if write {
		s.expose()
	}
	return s.slice(n)
}

// bring brings stowed values back into memory.
func (s *storage) bring() {
	k := s.stow
	if k == nil || k.by == nil {
		return
	}
	values := k.room
	if len(values) != k.count {
		values = pages.Floats(k.count)
	}
	k.by.Restore(values)
	if f, ok := k.by.(*inFile); ok {
		if s.frozen && keepsFiles {
			k.file = f
		} else {
			f.end()
		}
	}
	s.buf, k.room, k.by = values, nil, nil
}

// await has by write n values when somebody looks. If somebody has a slice of the present ones, or they may change unseen, it does nothing and returns false.
func (s *storage) await(n int, by Restorer) bool {
	k := s.stow
	if k == nil || s.shadow {
		return false
	}
	k.Lock()
	defer k.Unlock()
	if k.holds > 0 || k.seen || s.open || s.frozen {
		return false
	}
	if k.by == nil {
		k.room = s.buf
	}
	k.end()
	k.by, k.count, s.buf = by, n, nil
	s.version++
	return true
}

// forget drops stowed values.
func (s *storage) forget() {
	if s.stow != nil {
		s.stow.end()
		s.stow.by, s.stow.room = nil, nil
	}
}

// end ends the wait for values of a file, which others replace.
func (k *stowage) end() {
	if f, ok := k.by.(*inFile); ok {
		f.end()
	}
}
