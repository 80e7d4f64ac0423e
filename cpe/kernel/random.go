package kernel

// uniform32 returns random number counter of the sequence that key names. Numbers are independent of the order in
// which they are asked for, so that a mask does not depend on tiles or threads. It is SplitMix64's output function
// (Steele, Lea and Flood 2014) of key and counter, upper half.
func uniform32(key, counter uint64) uint32 {
	z := key + (counter+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return uint32((z ^ z>>31) >> 32)
}

// UniformFloat returns the same number as a float32 in [0, 1).
func UniformFloat(key, counter uint64) float32 {
	return float32(uniform32(key, counter)>>8) * (1.0 / (1 << 24))
}
