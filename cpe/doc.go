// Package cpe is the machine that kernels run on: core groups of a mesh of cores (CPEs), each core with a scratchpad
// (LDM), joined by register buses and fed by DMA; the shape of the Sunway SW26010 (Fu et al. 2016; Fang et al.,
// IPDPS 2017; Li et al., swCaffe, arXiv 1903.06934).
//
// A machine is described by a Spec, an immutable value read from a prototxt in machines/. A Machine executes kernels
// for a Spec in one of three modes:
//
//	Native      on this computer: a core group is an OS core, the mesh is 1x1, the LDM is its slice of the L2 cache.
//	            Loads alias memory, nothing is charged.
//	Functional  tiles are copied into buffers of the LDM's size and moved over the register buses, and every transfer
//	            and operation is charged to virtual clocks.
//	CostOnly    only the charges are made; no value is read or written.
//
// Kernels (package cpe/kernel) are written once, against CoreGroup and CPE; the verbs (Load, Store, RowBroadcast,
// ColBroadcast, Compute) know the mode. Nobody outside cpe and cpe/kernel asks for it.
//
// Files: spec.go and load.go (the description), host.go (detection), machine.go (running programs on all core groups),
// cpe.go (one core: LDM, loads and stores), dma.go, bus.go, clock.go and ledger.go (what things cost).
package cpe
