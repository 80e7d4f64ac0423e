package tiling

// Sharer gives somebody a share lo <= i < hi of n things, as a core group does.
type Sharer interface{ Share(n int) (lo, hi int) }

// Share returns a core group's share lo <= i < hi of n values, which is cut at multiples of a unit. It may be empty.
func Share(g Sharer, n, unit int) (lo, hi int) {
	lo, hi = g.Share(Blocks(n, unit))
	return min(n, lo*unit), min(n, hi*unit)
}

// Even cuts an extent into as few equal blocks of at most size values as possible; blocks are multiples of unit.
func Even(extent, size, unit int) int {
	n := max(1, Blocks(extent, size))
	return max(1, Blocks(Blocks(extent, n), unit)) * unit
}

// Blocks is the number of blocks of a size that cover an extent.
func Blocks(extent, size int) int { return (extent + size - 1) / size }

// HostTile is how many values of an array a native tile has at most: 64 KB, so that a handful of arrays stay in L2.
const HostTile = 16 << 10

// Largest returns the largest n <= limit for which fits holds; fits must hold for all smaller n. 0 if none.
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
