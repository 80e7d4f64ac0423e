package dataset

import (
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/swcaffe/swcaffe/data/regular"
)

// recordMemory is memory for records and image files, which later ones take over.
type recordMemory struct {
	values, files spare
	tighten       sync.Once
	percent       int // what the garbage collector was set to; 0: it has not been changed
}

// largeRecord is the number of bytes from which on a record is large.
const largeRecord = 4 << 20

// garbage is the garbage beside large records, in percent of what is in use. They are few and hold no pointers, so that collecting costs little.
const garbage = 10

// large is called before a large record is made. It makes the garbage collector leave less.
func (m *recordMemory) large() {
	m.tighten.Do(func() { m.percent = debug.SetGCPercent(garbage) })
}

// release ends the use of the memory.
func (m *recordMemory) release() {
	if m.percent != 0 {
		debug.SetGCPercent(m.percent)
	}
	*m = recordMemory{}
}

// read reads a file.
func (m *recordMemory) read(path string) ([]byte, error) {
	return regular.ReadFileInto(path, m.files.take)
}

// spare is memory that nobody uses.
type spare struct {
	mu   sync.Mutex
	free [][]byte
}

// take returns n bytes of any content. A buffer that is too short is given up.
func (s *spare) take(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	if last < 0 {
		return make([]byte, n)
	}
	b := s.free[last]
	s.free = s.free[:last]
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

func (s *spare) put(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b != nil && len(s.free) < 2*runtime.GOMAXPROCS(0) {
		s.free = append(s.free, b)
	}
}
