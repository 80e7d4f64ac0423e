//go:build !linux

package cpe

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// thread leaves the choice of processors to the operating system.
type thread struct{}

func (*thread) claim(int) {}

func (*thread) avoid(int) {}

func processor() int { return 0 }

// yield lets another goroutine run.
func yield() { runtime.Gosched() }

// sleeper puts a goroutine to sleep.
type sleeper struct {
	mutex sync.Mutex
	woken sync.Cond
}

func (s *sleeper) init() { s.woken.L = &s.mutex }

// sleep returns when it is woken, or at once if the word is not was.
func (s *sleeper) sleep(word *atomic.Uint32, was uint32) {
	s.mutex.Lock()
	if word.Load() == was {
		s.woken.Wait()
	}
	s.mutex.Unlock()
}

// wake ends the sleep.
func (s *sleeper) wake(*atomic.Uint32) {
	s.mutex.Lock()
	s.woken.Signal()
	s.mutex.Unlock()
}
