package kernel

import (
	"sync/atomic"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// counter is a program that counts how often each unit is done.
type counter struct {
	queue
	done []atomic.Int32
}

func (c *counter) Name() string { return "counter" }

func (c *counter) RunGroup(*cpe.CoreGroup) error {
	for i := c.take(); i < len(c.done); i = c.take() {
		c.done[i].Add(1)
	}
	return nil
}

// TestQueue: core groups together do every unit once, each time that they run.
func TestQueue(t *testing.T) {
	m := hostMachine(t, 3)
	for _, units := range []int{0, 1, 2, 7, 100} {
		c := &counter{done: make([]atomic.Int32, units)}
		for run := range 3 {
			c.open()
			if err := m.Run(c, 0); err != nil {
				t.Fatal(err)
			}
			for i := range c.done {
				if n := int(c.done[i].Load()); n != run+1 {
					t.Errorf("unit %d of %d was done %d times in %d runs", i, units, n, run+1)
				}
			}
		}
	}
}
