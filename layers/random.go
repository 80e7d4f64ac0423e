package layers

import (
	"fmt"
	"math/rand/v2"
)

// Random is a seeded generator whose state can be stored in a snapshot and restored.
type Random struct {
	*rand.Rand
	pcg *rand.PCG
}

// NewRandom returns a generator; the same seed gives the same sequence on every machine.
func NewRandom(seed uint64) *Random {
	pcg := rand.NewPCG(seed, 0x9e3779b97f4a7c15)
	return &Random{Rand: rand.New(pcg), pcg: pcg}
}

// State returns the generator's state for a snapshot.
func (r *Random) State() []byte { return r.AppendState(nil) }

// AppendState appends to dst what State returns.
func (r *Random) AppendState(dst []byte) []byte {
	state, err := r.pcg.AppendBinary(dst)
	if err != nil {
		panic("layers: PCG state: " + err.Error())
	}
	return state
}

// SetState restores a state returned by State.
func (r *Random) SetState(state []byte) error {
	if err := r.pcg.UnmarshalBinary(state); err != nil {
		return fmt.Errorf("random generator state of %d bytes: %w", len(state), err)
	}
	return nil
}
