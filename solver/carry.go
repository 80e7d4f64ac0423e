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
	version int
}

// Iter is the number of iterations.
func (c *Carried) Iter() int { return int(c.state.GetIter()) }

// Version tells which of two workers' states of a training is the later one. Where all workers have the same state after an iteration, that is
// Iter; with a centre it grows with every message that the centre answers.
func (c *Carried) Version() int { return c.version }

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
	c := &Carried{version: f.iter}
	if s, ok := v.strategy.(versioned); ok {
		c.version = s.version()
	}
	return c, v.strategy.shown(func() error {
		// What is shown is lent: the messages share its memory.
		c.weights, c.state = proto.CloneOf(v.net.ToProto(false)), proto.CloneOf(v.stateProto(""))
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
	if s, ok := v.strategy.(versioned); ok {
		s.follow(c.version)
	}
	v.recall()
	v.inMemory = true
	v.footing.take(v, v.iter)
	return nil
}

// headBytes precede both messages: the length of the weights', and the version.
const headBytes = 16

// Marshal returns the state as bytes.
func (c *Carried) Marshal() ([]byte, error) {
	bytes, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, headBytes), c.weights)
	if err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint64(bytes, uint64(len(bytes)-headBytes))
	binary.LittleEndian.PutUint64(bytes[8:], uint64(c.version))
	return proto.MarshalOptions{}.MarshalAppend(bytes, c.state)
}

// UnmarshalCarried reads what Marshal has written.
func UnmarshalCarried(bytes []byte) (*Carried, error) {
	if len(bytes) < headBytes {
		return nil, fmt.Errorf("a state of %d bytes is not whole", len(bytes))
	}
	n, rest := binary.LittleEndian.Uint64(bytes), bytes[headBytes:]
	if n > uint64(len(rest)) {
		return nil, fmt.Errorf("a state of %d bytes is not whole: its weights have %d", len(bytes), n)
	}
	c := &Carried{weights: &caffepb.NetParameter{}, state: &caffepb.SolverState{}, version: int(binary.LittleEndian.Uint64(bytes[8:]))}
	return c, errors.Join(proto.Unmarshal(rest[:n], c.weights), proto.Unmarshal(rest[n:], c.state))
}

// Rescue writes a snapshot of the last whole iteration, as Solve does when an error ends it, whatever the worker's rank. It is for a worker whose
// Solve has ended with an error that Options.Carries has taken.
func (v *Solver) Rescue(cause error) error {
	v.alone = true
	return v.rescue(cause)
}
