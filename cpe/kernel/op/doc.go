// Package op is the contract of planned operations: convolutions, matrix products and poolings.
//
// A [Problem] is everything on which the choice of an algorithm may depend: shape, direction, layouts in memory, number types, machine. An
// [Algorithm] is one way to solve problems of a kind: it says which it supports, with a reason against each of the others, what they cost, and
// it makes kernels. A [List] holds all algorithms of an operation. [List.Choose] picks one, under a user's [Force]; [List.Explain] says why.
// Leaving algorithms out (cpe.Spec.LeavesOut) and comparing their times on a modelled machine are written here, once for all operations.
package op
