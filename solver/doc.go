// Package solver trains a net: it runs the loop of forward, backward and update, tests, logs, snapshots and resumes,
// as Caffe's solver does, and in the same words, so that tools that read Caffe's logs read these.
//
//	solver.go      the Solver; nets.go: which nets its file asks for; counts.go: what its counts may be
//	loop.go        Solve and Step
//	test.go        the test pass; scorer.go: batches that workers run in turn
//	rate.go        learning-rate policies                              (pure)
//	rule.go        the update rules: SGD and its relatives, each as one streaming kernel and as a plain loop
//	update.go      clipping, and one update of all weights
//	snapshot.go    .caffemodel and .solverstate, out and in; caffeh5: as HDF5; snapshot_worker.go: what workers have of their own
//	weights.go     weights from files
//	display.go     the lines of the log
//
// Several workers train together as a [Team]; each is a Solver of its own, and a strategy joins them:
//
//	strategy.go    what a strategy is asked at the points of an iteration; the list of them
//	sync.go        synchronous SGD: gradients summed before the update, whole or in buckets during Backward
//	centred.go     strategies whose workers exchange messages with a centre; centre.go is the centre, centre_server.go the way to it
//	sync_easgd.go  synchronous and decentralised EASGD
//	team.go        a worker's place; agree.go: the comparison of nets and weights
//	pack.go        weights and gradients of all layers in one array
//	passes.go      a worker's passes, on one core group or several
//	virtual.go     virtual time; queue.go: the order of a centre's messages in it
//	background.go  work beside the passes
package solver
