// Package solver trains a net. Its central type is Solver: it runs the loop of forward, backward and update, tests, logs, writes snapshots
// and resumes, as Caffe's solver does. Its log has Caffe's wording, so that tools for Caffe's logs can read it.
//
//	solver.go      the Solver; nets.go: the nets of its file; counts.go: checks of the file's counts
//	loop.go        Solve and Step
//	test.go        the test pass; evaluate: test batches split over workers, precision of detections
//	rules          the update rules, SGD and its relatives, and learning-rate policies
//	update.go      clipping, and one update of all weights
//	snapshot.go    reads and writes .caffemodel and .solverstate; caffeh5: the same in HDF5; snapshot_worker.go: each worker's own state;
//	               snapshot_layers.go: what layers carry from batch to batch
//	weights.go     weights from files
//	display.go     the lines of the log
//	report.go      the events of a run, for subscribers of a stream (events)
//
// Several workers train together as a [Team]. Each is a Solver of its own, and a strategy connects them:
//
//	strategy.go    the interface of strategies, and their list
//	sync.go        synchronous SGD: gradients summed before the update, whole or in buckets during Backward
//	centred.go     strategies whose workers exchange messages with a centre (centre: its weights, its server, the order of messages)
//	sync_easgd.go  synchronous and decentralised EASGD
//	team.go        a worker's place in its team; agree.go: comparison of nets and weights
//	pack.go        weights and gradients of all layers in one array
//	passes.go      a worker's passes, on one core group or several
//	virtual.go     virtual time
//	background.go  work in parallel with the passes
package solver
