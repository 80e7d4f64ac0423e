// Package net builds a directed acyclic graph of layers from a NetParameter and runs it. Elsewhere it is imported as
// swnet.
//
// The central type is Net. New makes one in steps, each a file of its own:
//
//	filter.go    keep the layers whose include/exclude rules fit the phase, level and stages   (pure)
//	types.go     report layers of types that are not known
//	split.go     give every consumer of a blob its own copy through Split layers                (pure)
//	build.go     make the layers, wire blobs by name, set shapes
//	params.go    gather the weights, share those with equal names, apply lr_mult and decay_mult
//	backward.go  decide which layers and bottoms need gradients
//
// Package net/schedule then plans what runs: a list of tasks, of which one may compute several layers, and places in an arena for blobs
// (memory.go). The plan is made anew when a blob is asked for by name, when bottoms get other shapes, and for debug_info.
//
// run.go runs the plan forward and backward, weights.go moves weights in and out of caffemodels, debug.go prints what
// debug_info asks for. The behaviour, including the names of inserted layers, is that of Caffe's net.cpp,
// insert_splits.cpp and their tests.
package net
