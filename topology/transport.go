package topology

import (
	"fmt"
)

// Transport connects one rank with the others. Calls block until the values are sent or received; sent values may be changed once the call
// returns. Both sides give the same length, which may be 0. A transport is used by one goroutine at a time. After an error the rank's work
// should end: the values of its arrays are undefined.
type Transport interface {
	Rank() int
	Size() int
	Send(to int, data []float32) error
	Recv(from int, data []float32) error
	// SendRecv sends to one rank and receives from the same or another at the same time. The two slices do not overlap.
	SendRecv(to int, send []float32, from int, recv []float32) error
}

// checkPeer returns an error if a rank cannot be the other side.
func checkPeer(rank, size, peer int, verb string) error {
	if peer < 0 || peer >= size || peer == rank {
		return fmt.Errorf("topology: rank %d cannot %s rank %d: the peer must be another rank from 0 to %d", rank, verb, peer, size-1)
	}
	return nil
}

// lengthError reports that the two sides of a message give different lengths.
func lengthError(from, to, sent, wanted int) error {
	return fmt.Errorf("topology: rank %d sends %d values to rank %d, which expects %d", from, sent, to, wanted)
}

// RankError is an error of one rank.
type RankError struct {
	Rank int
	Err  error
}

func (e *RankError) Error() string { return fmt.Sprintf("rank %d: %v", e.Rank, e.Err) }

func (e *RankError) Unwrap() error { return e.Err }
