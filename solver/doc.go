// Package solver trains a net: it runs the loop of forward, backward and update, tests, logs, snapshots and resumes,
// as Caffe's solver does, and in the same words, so that tools that read Caffe's logs read these.
//
//	solver.go      the Solver, its training net and test nets
//	loop.go        Solve and Step
//	test.go        the test pass
//	rate.go        learning-rate policies                              (pure)
//	rule.go        the update rules: SGD and its relatives, each as one streaming kernel and as a plain loop
//	update.go      clipping, and one update of all weights
//	snapshot.go    .caffemodel and .solverstate, out and in
//	display.go     the lines of the log
package solver
