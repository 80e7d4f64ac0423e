package stream

import "github.com/swcaffe/swcaffe/internal/simd/vec"

// Uniform returns random number counter of the sequence that key names, in [0, 1): see vec.Uniform. Numbers are independent of the
// order in which they are asked for, so that they do not depend on tiles or threads.
func Uniform(key, counter uint64) float32 {
	return float32(vec.Uniform(key, counter)) * (1.0 / (1 << vec.UniformBits))
}
