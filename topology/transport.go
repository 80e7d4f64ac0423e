package topology

import (
	"fmt"
)

// Transport is one rank's way to the others. Calls block until the values are sent or received; values that were sent
// may be changed once the call returns. Both sides name the same length, which may be 0. A transport is used by one
// goroutine at a time. After an error the rank's work should end: its arrays' values are undefined.
type Transport interface {
	Rank() int
	Size() int
	Send(to int, data []float32) error
	Recv(from int, data []float32) error
	// SendRecv sends to one rank and receives from another, or the same, at once. The two slices do not overlap.
	SendRecv(to int, send []float32, from int, recv []float32) error
}

// checkPeer returns an error for a rank that cannot be the other side.
func checkPeer(rank, size, peer int, verb string) error {
	if peer < 0 || peer >= size || peer == rank {
		return fmt.Errorf("topology: rank %d cannot %s rank %d: peers are the other ranks of 0 to %d", rank, verb, peer, size-1)
	}
	return nil
}

// lengthError says that the two sides of a message disagree.
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
