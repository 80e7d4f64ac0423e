package vec

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// Every copies every stride-th value of src to dst.
func Every(dst, src []float32, stride int) {
	if stride == 1 {
		copy(dst, src)
		return
	}
	whole := 0
	if stride < len(have.Every) && have.Every[stride] != none {
		if whole = isa.Whole(min(len(dst), len(src)/stride)); whole > 0 {
			have.Every[stride].run(&dst[0], &src[0], whole)
		}
	}
	for i := whole; i < len(dst); i++ {
		dst[i] = src[i*stride]
	}
}
