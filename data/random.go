package data

// draw returns a uniform number in [0, n) for one purpose (crop, mirror) of one item. It hashes (seed, item, purpose) with the
// finaliser of SplitMix64 (Steele, Lea, Flood 2014), so the order of draws does not matter.
func draw(seed, item, purpose uint64, n int) int {
	x := mix(seed + 0x9e3779b97f4a7c15*(item+1))
	x = mix(x + 0x9e3779b97f4a7c15*(purpose+1))
	return int((x >> 32) * uint64(n) >> 32)
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
