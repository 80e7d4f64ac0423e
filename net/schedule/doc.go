// Package schedule plans how a net runs. It turns the layers into a list of tasks, one for each layer's position, and improves the list in
// passes.
//
// The central type is Plan: a list of Tasks and the other decisions of the passes, such as the places of blobs in memory. A Graph describes
// the layers as in the prototxt. Make starts with one task for every layer and runs the passes, in the order of passes.go:
//
//	fuse       combine two layers in one task, by registered fusions (layers.RegisterFusion)
//	relu       let a task also apply the in-place ReLU layer on its top
//	relu-grad  let a task also apply the Backward of an in-place ReLU layer on a bottom
//	finish     let a convolution also normalise its results, in nets for Forward only
//	gradients  let gradients share storage if they are equal or only their sum is needed
//	layout     keep channels in blocks through runs of layers
//	thin       compute only the pixels that readers need
//	parts      run Backward in two parts where that saves memory
//	memory     place values and gradients in an arena
//
// A pass reads the plan as the earlier passes left it, above all the layers' Traits. It changes the plan and describes what it did (Note).
// The Traits say what a pass may do, the graph whether it is correct. Passes and fusions can be disabled by name (Graph.Without).
//
// No pass is undone separately. If an input of the plan changes, because a blob is requested by name or bottoms change shape, Plan.Release
// gives the blobs their own storage back, and Make makes a new plan.
package schedule
