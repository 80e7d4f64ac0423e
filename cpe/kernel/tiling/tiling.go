// Package tiling has the arithmetic of blocks that all kernels share. [Blocks], [Even], [Largest] and [Share] cut an extent into parts. [Span]
// is a run of indices along an axis. [Window], [Inputs] and [Outputs] relate the inputs and outputs of a convolution or a pooling. The package
// imports nothing of this module, and its small functions are inlined.
package tiling

// Sharer has a share lo <= i < hi of n things, as a core group (cpe.CoreGroup) does.
type Sharer interface{ Share(n int) (lo, hi int) }

// Share returns the share lo <= i < hi of n values, cut at multiples of unit. It may be empty.
func Share(g Sharer, n, unit int) (lo, hi int) {
	lo, hi = g.Share(Blocks(n, unit))
	return min(n, lo*unit), min(n, hi*unit)
}

// Even returns the size of the blocks that cut an extent into as few equal parts as possible, each of at most size values. It is rounded
// up to a multiple of unit, and is at least unit.
func Even(extent, size, unit int) int {
	n := max(1, Blocks(extent, size))
	return max(1, Blocks(Blocks(extent, n), unit)) * unit
}

// Blocks returns how many blocks of a size cover an extent: extent/size, rounded up.
func Blocks(extent, size int) int { return (extent + size - 1) / size }

// HostTile is the largest number of values of a tile of an array in main memory: 64 KB, so that a handful of arrays stay in L2. Work on fewer
// values than one tile is not worth waking a second core.
const HostTile = 16 << 10

// Largest returns the largest n <= limit for which fits(n) is true, 0 if there is none. fits must be true for every smaller n.
func Largest(limit int, fits func(int) bool) int {
	lo, hi := 0, limit
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if fits(mid) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}
