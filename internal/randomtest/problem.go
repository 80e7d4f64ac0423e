// Package randomtest runs random problems against a reference, as oneDNN's benchdnn does.
//
// A Kind draws problems: whole nets, or single kernels. A Problem checks itself: it compares the fast path with a plain
// reference by value, and runs on different numbers of threads bit by bit. Run draws problems until its time is over. Each is
// checked in a child process, so that a panic, a hang or a killed process is a failure like any other, and so that every level of
// vector instructions can be had (simd chooses it when a process starts). A failing problem is shrunk: while one of its
// Smaller problems fails too, that one takes its place. What is left is written to a file, and the command that repeats it is printed.
//
// The command is in internal/randomtest/run; scripts/fuzz.sh calls it.
package randomtest

import "math/rand/v2"

// Kind is a family of problems.
type Kind struct {
	Name string
	// Random draws a problem: the same for the same state of r.
	Random func(r *rand.Rand) Problem
	// Parse reads what a problem's String wrote.
	Parse func(text string) (Problem, error)
}

// Problem is one thing to check. Its threads and their shares of the work are part of it.
type Problem interface {
	// String is the problem as text, of one line or many, which its kind's Parse reads.
	String() string
	// Check runs the problem. The error says what differs from what.
	Check() error
	// Smaller returns problems that are simpler in one respect each, the greatest steps first.
	Smaller() []Problem
}
