package vpixel

// Factors of the inverse cosine transform, in units of 2^-13. With c(k) = sqrt(2) cos(k pi/16) they are those of the transform with 11
// multiplications by C. Loeffler, A. Ligtenberg and G. Moschytz (ICASSP 1989).
const (
	fraction = 13
	f0541    = 4433  // c(6)
	f1306    = 10703 // c(2)
	f1847    = 15137 // c(2) + c(6)
	f1175    = 9633  // c(3)
	f0298    = 2446  // -c(1) + c(3) + c(5) - c(7)
	f2053    = 16819 // c(1) + c(3) - c(5) + c(7)
	f3072    = 25172 // c(1) + c(3) + c(5) - c(7)
	f1501    = 12299 // c(1) + c(3) - c(5) - c(7)
	f0899    = 7373  // c(3) - c(7)
	f2562    = 20995 // c(1) + c(3)
	f1961    = 16069 // c(3) + c(5)
	f0390    = 3196  // c(3) - c(5)

	kept = 2 // more bits between the passes
)

// Transform writes the samples of n blocks that lie side by side: 8 rows of 8*n samples, stride apart. values has 64 coefficients for each
// block, row by row, which are multiplied by quant.
//
// The arithmetic is that of libjpeg-turbo's accurate integer transform for vector registers: values have 16 bits and wrap where
// it adds them, and saturate after each pass.
func Transform(out []byte, stride int, values []int16, quant *[64]uint16, n int) {
	if n == 0 {
		return
	}
	_, _ = out[7*stride+8*n-1], values[64*n-1]
	done := 0
	if have.Transform != none && n > 1 {
		done = n &^ 1
		have.Transform.run(&out[0], stride, &values[0], &quant[0], n/2)
	}
	for ; done < n; done++ {
		block((*[64]int16)(values[64*done:]), quant, out[8*done:], stride)
	}
}

// block writes the samples of a block.
func block(values *[64]int16, quant *[64]uint16, out []byte, stride int) {
	var w [64]int32
	below := int16(0) // not 0 if there are coefficients below the first row
	for _, c := range values[8:] {
		below |= c
	}
	for x := range 8 {
		var v [8]int32
		for y := range 8 {
			v[y] = int32(int16(int32(values[8*y+x]) * int32(quant[8*y+x])))
		}
		if below == 0 {
			for y := range 8 {
				w[8*y+x] = int32(int16(v[0] << kept))
			}
			continue
		}
		r := even(v[0], v[2], v[4], v[6])
		o := odd(v[1], v[3], v[5], v[7])
		const half = 1 << (fraction - kept - 1)
		for y := range 4 {
			w[8*y+x] = clamp16((r[y] + o[y] + half) >> (fraction - kept))
			w[8*(7-y)+x] = clamp16((r[y] - o[y] + half) >> (fraction - kept))
		}
	}
	for y := range 8 {
		v := (*[8]int32)(w[8*y:])
		r := even(v[0], v[2], v[4], v[6])
		o := odd(v[1], v[3], v[5], v[7])
		row := out[y*stride:][:8]
		const half = 1 << (fraction + kept + 2)
		for x := range 4 {
			row[x] = saturate((r[x] + o[x] + half) >> (fraction + kept + 3))
			row[7-x] = saturate((r[x] - o[x] + half) >> (fraction + kept + 3))
		}
	}
}

// even returns the parts of the results 0 to 3 that the even inputs make. Those of 7 to 4 are the same.
func even(v0, v2, v4, v6 int32) [4]int32 {
	sum, difference := int32(int16(v0+v4))<<fraction, int32(int16(v0-v4))<<fraction
	a := v2*f1306 + v6*f0541
	b := v2*f0541 + v6*(f0541-f1847)
	return [4]int32{sum + a, difference + b, difference - b, sum - a}
}

// odd returns the parts of the results 0 to 3 that the odd inputs make. Those of 7 to 4 have the other sign.
func odd(v1, v3, v5, v7 int32) [4]int32 {
	z3, z4 := int32(int16(v7+v3)), int32(int16(v5+v1))
	p := z3*(f1175-f1961) + z4*f1175
	q := z3*f1175 + z4*(f1175-f0390)
	return [4]int32{
		v7*-f0899 + v1*(f1501-f0899) + q,
		v5*-f2562 + v3*(f3072-f2562) + p,
		v5*(f2053-f2562) + v3*-f2562 + q,
		v7*(f0298-f0899) + v1*-f0899 + p,
	}
}

func clamp16(v int32) int32 { return max(-1<<15, min(v, 1<<15-1)) }

// saturate returns the sample of a value around 0.
func saturate(v int32) byte { return byte(max(0, min(v+128, 255))) }
