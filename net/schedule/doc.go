// Package schedule turns the layers of a net into a list of tasks, one for each place in the net's order, and improves the list in passes.
//
// The central type is Plan: a list of Tasks and the other decisions of the passes, such as the places of blobs in memory. A Graph describes the
// layers as the prototxt has them. Make begins with a task for every layer by itself and runs the passes of passes.go in their order:
//
//	fold       a layer multiplies the Maps behind it into its weights, in nets for Forward alone
//	fuse       two tasks become one, by the fusions that layers have registered (layers.RegisterFusion)
//	finish     a task also activates, adds to or normalises its results, for the layers behind it
//	relu-grad  a task also rectifies a bottom's gradient, for a ReLU layer in place before it
//	gradients  gradients share a place if they are equal or their sum is wanted
//	layout     runs of layers have their channels in blocks
//	arrange    layers are told the decisions so far; it cannot be left out
//	thin       tasks do not compute pixels that no reader wants
//	rounded    images are stored in bfloat16 between layers that read and write them so
//	follow     a depthwise convolution makes the results before it that it reads, band by band
//	parts      Backward runs in two parts where that saves memory
//	whole      the pieces of an array that Concat joins or Slice cuts stand in it
//	memory     values and gradients get places in an arena
//
// A pass is a func(*Plan) error. It reads the plan of the passes before it, above all the layers' Traits, and changes the tasks and their Arranged. It
// notes in words what it did (Note). Traits say what it may do; the graph says whether that is sound. A pass or a fusion can be left out by its
// name (Graph.Without).
//
// No pass is undone by itself. A plan is void when a blob is asked for by name or bottoms get other shapes. Plan.Release then gives blobs their own
// storage back, and Make plans anew.
//
// # Layouts
//
// A blob's channels lie in blocks if every layer that reads or writes it can work so (layers.Blocking), one of them gains by it, and nobody asks
// for the blob by name. At the ends of a run of such layers, a layer converts what it reads or writes on the way, so that no pass over memory serves the
// layout alone. Layers that compute element by element need nothing for it. The layout of weights never changes.
//
// # Memory
//
// A run has a step for Forward of each layer and two for its Backward: one for the gradients of weights, one for those of bottoms. lifetimes.go finds
// the steps from which to which each storage is needed; layers.Traits.Unread says what Backward does without. pack.go places these spans in one
// arena. Besides blobs, the arena holds values that Forward leaves for Backward (Traits.Keeps), gradients that Forward writes (Traits.Traces) and
// scratch (cpe.Scratch).
//
// A blob keeps storage of its own if it is an output of the net, if a layer without bottoms makes it, or if it was asked for by name.
package schedule
