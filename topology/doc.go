// Package topology computes all-reduces: it sums arrays over many workers.
//
// A [Schedule] is an all-reduce as data. For each rank and round, a [Step] says which elements are sent to whom, which are received from
// whom, and whether the received values are added or replace the present ones. Schedules are pure functions of the algorithm, the [Layout] of
// ranks on nodes, and the length. They are used in three ways:
//
//   - [AllReduce] moves values over a [Transport]: [NewLocal] (goroutines of one process), [OpenMPI] (an MPI job, in the build with
//     -tags mpi), or [NewSim] (goroutines in virtual time).
//   - [Simulate] moves no values: it simulates the messages of a schedule on the network of a cluster [Spec], fast enough for 40,960
//     nodes.
//   - [Cost] estimates the time by closed forms, without simulation; the algorithm "auto" chooses by them.
//
// The network: every node has a full-duplex link to its supernode's non-blocking switch. Every supernode has a full-duplex uplink to a
// non-blocking central switch. A message starts when both sides have posted it. It takes its latency, and is then transferred at its max-min
// fair share of the links on its path. A rank's calls block, so that a node's link carries at most one message each way; only uplinks are
// shared.
//
// Results never depend on the order of goroutines. Each element has one summation order, the same on every rank and transport. Virtual time
// advances only when every rank waits.
package topology
