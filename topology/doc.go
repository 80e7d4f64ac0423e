// Package topology adds up arrays over many workers: transports that move values, collectives written as plans, and a
// simulated network on which the same plans are timed.
//
// A [Schedule] is an all-reduce as data: for each rank and round, a [Step] says to whom which elements are sent, from whom
// which are received, and whether these are added or replace what is there. Schedules are pure functions of the algorithm,
// the [Layout] of ranks over nodes, and the length. Three things execute them:
//
//   - [AllReduce] moves values over a [Transport]: [NewLocal] (goroutines of one process), [OpenMPI] (an MPI job, in the build
//     with -tags mpi), or [NewSim] (goroutines in virtual time).
//   - [Simulate] moves nothing: it plays the messages of a schedule on the network of a cluster [Spec], fast enough for
//     40,960 nodes.
//   - Closed forms ([Cost]) estimate them without playing anything; auto picks by them.
//
// The network: every node has a full-duplex link to its supernode's non-blocking switch; every supernode has a full-duplex uplink
// to a non-blocking central switch. A message starts when both sides have posted it, pays its latency, and then moves at
// its max-min fair share of the links on its way. A rank's calls block, so a node's link carries at most one message each
// way; only uplinks are shared.
//
// Results never depend on goroutine order: each element has one summation order, the same on every rank and transport, and
// virtual time advances only when every rank waits.
package topology
