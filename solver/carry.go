package solver

import (
	"encoding/binary"
	"errors"
	"fmt"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Carried is the state of a training after a whole number of iterations, in memory: what a snapshot has. A worker takes it from one team to the
// next.
type Carried struct {
	weights *caffepb.NetParameter
	state   *caffepb.SolverState
}

// Iter is the number of iterations.
func (c *Carried) Iter() int { return int(c.state.GetIter()) }

// Seed is the random seed of the training.
func (c *Carried) Seed() uint64 { return c.state.GetRunState().GetSeed() }

// Carry returns the state after the last whole iteration, also if an error has ended Solve or Step in the middle of one. It is nil before the first
// iteration of a solver that has not resumed.
func (v *Solver) Carry() (*Carried, error) {
	f := &v.footing
	switch {
	case !f.taken:
		return nil, nil
	case f.updating:
		return nil, errors.New("an update was interrupted: the weights are of two iterations")
	}
	f.regain(v)
	c := &Carried{}
	return c, v.strategy.shown(func() error {
		c.weights, c.state = v.net.ToProto(false), v.stateProto("")
		return nil
	})
}

// Resume continues from a state that another solver of the same file has carried.
func (v *Solver) Resume(c *Carried) error {
	err := v.net.LoadWeights(&swproto.Weights{Param: c.weights})
	if err == nil {
		err = v.setState(&swproto.State{SolverState: c.state})
	}
	if err != nil {
		return fmt.Errorf("the state of iteration %d: %w", c.Iter(), err)
	}
	v.inMemory = true
	v.footing.take(v, v.iter)
	return nil
}

// lengthBytes is the size of the length of the weights' message, which precedes both messages.
const lengthBytes = 8

// Marshal returns the state as bytes.
func (c *Carried) Marshal() ([]byte, error) {
	bytes, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, lengthBytes), c.weights)
	if err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint64(bytes, uint64(len(bytes)-lengthBytes))
	return proto.MarshalOptions{}.MarshalAppend(bytes, c.state)
}

// UnmarshalCarried reads what Marshal has written.
func UnmarshalCarried(bytes []byte) (*Carried, error) {
	if len(bytes) < lengthBytes {
		return nil, fmt.Errorf("a state of %d bytes is not whole", len(bytes))
	}
	n, rest := binary.LittleEndian.Uint64(bytes), bytes[lengthBytes:]
	if n > uint64(len(rest)) {
		return nil, fmt.Errorf("a state of %d bytes is not whole: its weights have %d", len(bytes), n)
	}
	c := &Carried{weights: &caffepb.NetParameter{}, state: &caffepb.SolverState{}}
	return c, errors.Join(proto.Unmarshal(rest[:n], c.weights), proto.Unmarshal(rest[n:], c.state))
}

// Rescue writes a snapshot of the last whole iteration, as Solve does when an error ends it, whatever the worker's rank. It is for a worker whose
// Solve has ended with an error that Options.Carries has taken.
func (v *Solver) Rescue(cause error) error {
	v.alone = true
	return v.rescue(cause)
}
