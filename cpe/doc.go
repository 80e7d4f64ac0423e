// Package cpe is the machine that kernels run on: core groups of a mesh of cores (CPEs), each core with a scratchpad
// (LDM), joined by register buses and fed by DMA; the shape of the Sunway SW26010 (Fu et al. 2016; Fang et al.,
// IPDPS 2017; Li et al., swCaffe, arXiv 1903.06934).
//
// A machine is described by a Spec, an immutable value read from a prototxt in machines/. A Machine executes kernels
// for a Spec in one of four modes:
//
//	Native      on this computer: a core group is an OS core, the mesh is 1x1, the LDM is its slice of the L2 cache.
//	            Tiles are packed or alias memory, nothing is charged.
//	Functional  tiles are copied into buffers of the LDM's size and worked on there, messages on the register buses are followed
//	            from CPE to CPE, and every transfer and operation is charged to virtual clocks.
//	CostOnly    only the charges are made, the same ones; no value is read or written.
//	Planned     kernels are planned as natively, to ask which algorithm they would take, and never run.
//
// Kernels (package cpe/kernel) are written once, as loops over tiles, against two sets of verbs that know the mode:
//
//	CoreGroup   Take, Get, Place, Put, Exchange, Multiply: a Tile is a block of a matrix spread over the mesh, and
//	            all CPEs move and compute together
//	CPE         Alloc, Load, Place, Store, Compute, ...: each CPE has tiles of its own
//
// Sync ends a step in which transfers and work follow each other, Overlap one in which they were double-buffered.
// Nobody outside cpe and cpe/kernel asks for the mode.
//
// Files: spec.go, load.go, validate.go and parameter.go (the description), part.go and mpe.go (a part of a machine, its management
// core), mechanism.go and software.go (what can be left out, whose kernels run), host.go (detection),
// machine.go (running programs on all core groups), workers.go, bell.go, thread_*.go and shares.go (doing so natively), scratch.go,
// group.go, cpe.go, view.go, tile.go (the verbs), bus.go (register buses), dma.go, bandwidth.go, pipe.go, clock.go, ledger.go and
// memo.go (what things cost), probe.go (the micro-benchmark of DMA), usage.go (what each CPE uses). DEVIATIONS.md lists what the model leaves out.
package cpe
