// Package schedule turns the layers of a net into a list of tasks, one for each place in the net's order, and improves the list in passes.
//
// The central type is Plan: a list of Tasks and what the passes have decided besides, such as where in memory blobs stand. A Graph describes the
// layers as the prototxt has them. Make begins with a task for every layer by itself and runs the passes of passes.go, in the order in
// which they stand there:
//
//	fuse       two tasks become one, by the fusions that layers have registered (layers.RegisterFusion)
//	relu       a task also rectifies its top, for a ReLU layer in place behind it
//	relu-grad  a task also rectifies a bottom's gradient, for a ReLU layer in place before it
//	finish     a convolution also normalises its results, in nets for Forward alone
//	gradients  gradients that are equal, or whose sum is wanted, share a place
//	layout     runs of layers have their channels in blocks
//	thin       pixels that no reader wants are not made
//	parts      Backward runs in two parts where that saves memory
//	memory     values and gradients get places in an arena
//
// A pass reads the plan that the passes before it have left, layers' Traits above all, changes it, and notes in words what it did (Note). What it
// may do is decided by the layers' traits; whether it is sound, by the graph. A pass or a fusion can be left out by its name (Graph.Without).
//
// No pass is undone by itself. When something changes that a plan was made for, because a blob was asked for by name or bottoms have other
// shapes, Plan.Release gives blobs their own storage back, and Make plans anew.
package schedule
