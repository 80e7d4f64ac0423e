// Package cpe is the machine on which kernels run: core groups of a mesh of cores (CPEs), each core with a scratchpad (LDM), connected by
// register buses or remote access (RMA) and fed by DMA. This is the structure of the Sunway SW26010 (Fu et al. 2016; Fang et al., IPDPS 2017; Li et al., swCaffe,
// arXiv 1903.06934).
//
// A [Spec] describes a machine. It is an immutable value, read from a prototxt in machines/. A [Machine] executes kernels for a Spec in one
// of five modes:
//
//	Native      on this computer: a core group is an OS core, the mesh is 1x1, and the LDM is the core's L2 cache.
//	            Tiles are packed or alias memory; nothing is charged.
//	Functional  tiles are copied to buffers of the LDM's size and computed there; register messages are checked from
//	            CPE to CPE; every transfer and operation is charged to virtual clocks.
//	CostOnly    charges the same costs without reading or writing values.
//	Planned     plans kernels as Native does, to ask which algorithms they would use, and runs none.
//	Surveyed    runs them without units of work, to ask how they would divide it.
//
// Kernels (package cpe/kernel) are written once, as loops over tiles, with two sets of operations that follow the mode:
//
//	CoreGroup   Take, Get, Place, Put, Exchange, Multiply: a Tile is a block of a matrix spread over the mesh, and
//	            all CPEs transfer and compute together
//	CPE         Alloc, Load, Place, Store, Compute, ...: each CPE has tiles of its own
//
// Sync ends a step whose transfers and work follow each other; Overlap ends a step in which they were double-buffered.
//
// Kernels do not ask for the mode. They ask whether tiles come by DMA ([Spec.HasDMA]), how many core groups are worth waking
// ([Machine.GroupsFor]), and whether values are computed ([Machine.Values]).
//
// Files:
//
//	spec.go, load.go, validate.go, parameter.go      the description of a machine
//	part.go, mpe.go, mechanism.go, software.go       machines derived from another: a part of it, its management core, a machine
//	                                                 without a mechanism, a machine with a publication's software
//	host.go                                          detection of this computer
//	machine.go, mode.go, observe.go                  running programs on all core groups
//	workers.go, bell.go, patience*.go, thread_*.go, shares.go
//	                                                 running them natively
//	scratch.go                                       scratch memory
//	group.go, cpe.go, view.go, tile.go, bus.go       the operations, and the register buses
//	rma.go, dma.go, queue.go, bandwidth.go, pipe.go, clock.go, ledger.go, memo.go
//	                                                 costs
//	probe.go, usage.go                               the DMA micro-benchmark; tracing the use of each CPE
//
// DEVIATIONS.md lists what the model leaves out.
package cpe
