package vpixel

// BGR writes pixels as B, G, R from luma and colour differences.
func BGR(out, y, cb, cr []byte) {
	n := len(y)
	out, cb, cr = out[:3*n], cb[:n], cr[:n]
	done := 0
	if have.Bgr != none && n >= step {
		done = n / step * step
		have.Bgr.run(&out[0], &y[0], &cb[0], &cr[0], n/step)
	}
	for i := done; i < n; i++ {
		p := out[3*i:][:3]
		p[2], p[1], p[0] = RGB(y[i], cb[i], cr[i])
	}
}

// RGB converts luma and colour differences by JFIF's formulas with 16 bits behind the point:
//
//	R = Y + 1.40200 Cr, G = Y - 0.34414 Cb - 0.71414 Cr, B = Y + 1.77200 Cb
func RGB(luma, blue, red byte) (r, g, b byte) {
	const half = 1 << 15
	y, cb, cr := int32(luma), int32(blue)-128, int32(red)-128
	return sample(y + (91881*cr+half)>>16), sample(y + (-22554*cb-46802*cr+half)>>16), sample(y + (116130*cb+half)>>16)
}

func sample(v int32) byte { return byte(max(0, min(v, 255))) }

// Pick writes (v - mean) * scale for every stride-th byte v of src: a channel of pixels as the input of a net.
func Pick(dst []float32, src []byte, stride int, mean, scale float32) {
	n := len(dst)
	if n == 0 {
		return
	}
	_ = src[(n-1)*stride]
	done := 0
	if stride < len(have.Pick) && have.Pick[stride] != none {
		done = n / 8 * 8
		have.Pick[stride].run(&dst[0], &src[0], n/8, mean, scale)
	}
	for i, at := done, done*stride; i < n; i, at = i+1, at+stride {
		dst[i] = (float32(src[at]) - mean) * scale
	}
}
