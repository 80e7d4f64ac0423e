// Package net builds a directed acyclic graph of layers from a NetParameter and runs it. Elsewhere it is imported as
// swnet.
//
// A net is made in passes, each a file of its own:
//
//	filter.go    keep the layers whose include/exclude rules fit the phase, level and stages   (pure)
//	types.go     report layers of types that are not known
//	split.go     give every consumer of a blob its own copy through Split layers                (pure)
//	build.go     make the layers, wire blobs by name, set shapes
//	params.go    gather the weights, share those with equal names, apply lr_mult and decay_mult
//	backward.go  decide which layers and bottoms need gradients
//
// and, of a net that economises,
//
//	fuse.go      let chains of layers be computed together; rectify.go: ReLU layers by their neighbours
//	gradients.go let gradients that are equal, or whose sum is wanted, share storage; gradient_flow.go shows that it is sound
//	layout.go    choose for which blobs channels lie in blocks; thin.go: and of which only some pixels are made
//	memory.go    give blobs places in an arena: lifetimes.go says from which step to which each is needed,
//	             plan.go packs such spans (pure)
//
// run.go then runs it forward and backward, weights.go moves weights in and out of caffemodels, debug.go prints what
// debug_info asks for. The behaviour, including the names of inserted layers, is that of Caffe's net.cpp,
// insert_splits.cpp and their tests.
package net
