package vec

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/simd/isa"
)

// UniformBits is the number of bits of Uniform's numbers.
const UniformBits = 24

// golden is what SplitMix64 adds to its state for every number.
const golden = 0x9e3779b97f4a7c15

// Uniform returns random number counter of the sequence that key names, of UniformBits bits: the upper ones of SplitMix64's output function
// (Steele, Lea and Flood 2014) of key and counter.
func Uniform(key, counter uint64) uint32 {
	z := key + (counter+1)*golden
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return uint32((z ^ z>>31) >> (64 - UniformBits))
}

// Drop sets dst to src times scale, or times 0 where random number first+i of the sequence that key names is less than below, so that what
// is not finite becomes NaN there.
func Drop(dst, src []float32, key, first uint64, below uint32, scale float32) {
	src = src[:len(dst)]
	whole := isa.Whole(len(dst))
	if whole > 0 {
		drop(&dst[0], &src[0], whole, key+(first+1)*golden, below, scale)
	}
	bits := int32(math.Float32bits(scale))
	for i, v := range src[whole:] {
		// Of a number below the sign is set: no branch, which would be guessed wrongly every other time.
		dropped := (int32(Uniform(key, first+uint64(whole+i))) - int32(below)) >> 31
		dst[whole+i] = v * math.Float32frombits(uint32(bits&^dropped))
	}
}
