package stream

import "github.com/swcaffe/swcaffe/internal/base/simd/vec"

// Uniform returns number counter of the random sequence that key names, in [0, 1); see vec.Uniform. A number depends on key and counter
// alone, and so not on tiles or threads.
func Uniform(key, counter uint64) float32 {
	return float32(vec.Uniform(key, counter)) * (1.0 / (1 << vec.UniformBits))
}
