// Package python is the engine's side of the Python module caffe. cmd/libswcaffe exports it as a C library, and python/caffe calls that
// library.
//
// The central type is Handle, a number that stands for a Go object in Python: a net, a solver, or one of their blobs (Objects). An object
// lives until Python releases its handle. A net is closed when the last handle of the net, or of the solver that owns it, is released.
//
//	handle.go  handles of objects
//	fault.go   errors and panics, as Python exceptions
//	memory.go  memory that numpy arrays look at
//	gate.go    one thread at a time in a net or solver
//	engine.go  the machine, the log and the random seed that all nets share
//	net.go     nets and their parts; run.go: forward and backward; files.go: weights in files
//	infer.go   runs of nets for inference that economise
//	blob.go    shapes and memory of blobs
//	solver.go  solvers; watch.go: signals, callbacks, and blobs that Python looks at; repeat.go: iterations that are computed again
//	layer.go   layers written in Python
//	pictures.go  image files, drawings of nets, and the description of Caffe's messages
//	call.go    calls by name, with arguments and results in JSON
//
// # Memory
//
// Blobs are allocated by Go, whose garbage collector does not move memory. A numpy array is a view of a blob's memory. Look pins this memory
// until Forget, which the array's owner calls when numpy has dropped the last array that refers to it. A view therefore outlives its blob,
// its net and its solver. If a blob grows, or another blob's memory is shared with it, the blob has new memory from then on. The
// earlier view keeps the old memory with its last values.
//
// # Blobs that a net does not keep
//
// A solver's nets share memory between blobs and fuse layers while nobody looks at them (swnet.Options.Economise). Python must never see the
// undefined values this leaves (watch.go):
//
//   - The last iteration of a Step keeps all blobs, and so do the last before a test and the last batch of every test.
//   - In a program that steps one by one, the passes of the last iteration are repeated when Python first looks (repeat.go).
//   - A net opened by itself for inference economises in whole runs forward, which are repeated when Python looks (infer.go).
//   - A net with a live view of a blob that economising would spoil, with Python layers, hooks or callbacks always keeps all blobs. So does any
//     other net opened without a solver.
//
// Weights, inputs and outputs are kept in any case.
//
// # Threads
//
// A net or solver serves one thread at a time; a second one gets an error (gate). Different nets may be called from different threads: they
// take turns on the machine, between two calls or two iterations. The turn also ends while a Python layer or callback runs.
package python
