// Package randomtest checks random problems against a reference, like oneDNN's benchdnn.
//
// A Kind draws Problems: whole nets, or single kernels. A Problem checks itself: it compares the fast path with a plain reference
// by value, and runs with different numbers of threads with each other, bit by bit. Run draws problems until its time is over.
//
// Each problem is checked in a child process. A panic, a hang or a killed process is thus a failure like any other, and every
// level of vector instructions can be tested (simd chooses the level when a process starts). Run shrinks a failing problem: as
// long as one of its Smaller problems fails too, it continues with the smaller one. It writes the result to a file, and prints
// the command that repeats it.
//
// The command is in internal/testkit/randomtest/run; scripts/fuzz.sh calls it.
package randomtest

import "math/rand/v2"

// Kind is a family of problems.
type Kind struct {
	Name string
	// Random draws a problem. The same state of r gives the same problem.
	Random func(r *rand.Rand) Problem
	// Parse parses a text of a problem's String.
	Parse func(text string) (Problem, error)
}

// Problem is one check. Its text includes the threads and their shares of the work.
type Problem interface {
	// String returns the problem as text, of one or more lines, for its kind's Parse.
	String() string
	// Check runs the problem. The error names the differing values.
	Check() error
	// Smaller returns problems that are each simpler in one respect, the greatest steps first.
	Smaller() []Problem
}
