package vec

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// UniformBits is the number of bits of Uniform's numbers.
const UniformBits = 24

// golden is the increment of SplitMix64's state.
const golden = 0x9e3779b97f4a7c15

// Uniform returns number counter of key's random sequence: the upper UniformBits bits of SplitMix64 (Steele, Lea and Flood 2014) with the
// state key + (counter+1)*golden.
func Uniform(key, counter uint64) uint32 {
	z := key + (counter+1)*golden
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return uint32((z ^ z>>31) >> (64 - UniformBits))
}

// Drop sets dst[i] to src[i] times scale. Where number first+i of key's sequence is less than below, the factor is 0 instead; infinities and NaN
// become NaN there.
func Drop(dst, src []float32, key, first uint64, below uint32, scale float32) {
	src = src[:len(dst)]
	whole := 0
	if have.Drop != none && len(dst) >= isa.Lanes() {
		whole = isa.Whole(len(dst))
		have.Drop.run(&dst[0], &src[0], whole, key+(first+1)*golden, below, scale)
	}
	bits := int32(math.Float32bits(scale))
	for i, v := range src[whole:] {
		// The sign of the difference says whether to drop. A branch would be mispredicted every other time.
		dropped := (int32(Uniform(key, first+uint64(whole+i))) - int32(below)) >> 31
		dst[whole+i] = v * math.Float32frombits(uint32(bits&^dropped))
	}
}
