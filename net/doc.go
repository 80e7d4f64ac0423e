// Package net builds a directed acyclic graph of layers from a NetParameter and runs it. Other packages import it as swnet.
//
// The central type is Net. New builds one in steps, each in a file of its own:
//
//	filter.go    keep the layers whose include/exclude rules fit the phase, level and stages   (pure)
//	types.go     report unknown layer types
//	split.go     give every reader of a blob its own copy through Split layers                  (pure)
//	build.go     make the layers, connect blobs by name, set shapes
//	params.go    collect the weights, share those with equal names, apply lr_mult and decay_mult
//	backward.go  decide which layers and bottoms need gradients
//
// Package net/schedule then makes the plan: a list of tasks, some of which compute several layers, and the places of blobs in an arena
// (memory.go). The net plans again when a blob is requested by name, when bottoms change shape, and for debug_info.
//
// run.go runs the plan forward and backward. weights.go loads and stores weights as caffemodels. debug.go prints the lines of debug_info.
// finite.go finds values that are not finite. observe.go tells an observer when layers run.
// The behaviour, including the names of inserted layers, is that of Caffe's net.cpp, insert_splits.cpp and their tests.
package net
