package jpeg

// Rows makes rows of pixels of a decoded image.
type Rows struct {
	d  *Decoder
	up []*upsampler
}

// Rows returns the rows of an image behind Decode.
func (d *Decoder) Rows() *Rows {
	r := &Rows{d: d}
	for i := range d.components {
		r.up = append(r.up, d.newUpsampler(i))
	}
	return r
}

// Storage is memory for rows of First: row y does not overwrite what a later row is made of. It is nil where there is none.
func (r *Rows) Storage() []byte {
	if u := r.up[0]; u.h > 1 || u.v > 1 {
		return nil
	}
	return r.up[0].c.samples
}

// First writes the first component of row y: grey of Grey and YCbCr images.
func (r *Rows) First(y int, out []byte) { copy(out, r.up[0].row(y)) }

// BGR writes row y of a Grey, YCbCr or RGB image as B, G, R.
func (r *Rows) BGR(y int, out []byte) {
	a := r.up[0].row(y)[:r.d.Width]
	if len(r.up) == 1 {
		for x, v := range a {
			p := out[3*x:][:3]
			p[0], p[1], p[2] = v, v, v
		}
		return
	}
	b, c := r.up[1].row(y)[:len(a)], r.up[2].row(y)[:len(a)]
	if r.d.Space == RGB {
		for x := range a {
			p := out[3*x:][:3]
			p[0], p[1], p[2] = c[x], b[x], a[x]
		}
		return
	}
	for x, v := range a {
		p := out[3*x:][:3]
		p[2], p[1], p[0] = rgb(int32(v), int32(b[x])-128, int32(c[x])-128)
	}
}

// CMYK writes row y of a CMYK or YCCK image as C, M, Y, K, as they are stored.
func (r *Rows) CMYK(y int, out []byte) {
	a := r.up[0].row(y)[:r.d.Width]
	b, c, k := r.up[1].row(y)[:len(a)], r.up[2].row(y)[:len(a)], r.up[3].row(y)[:len(a)]
	for x, v := range a {
		p := out[4*x:][:4]
		if p[0], p[1], p[2], p[3] = v, b[x], c[x], k[x]; r.d.Space == YCCK {
			red, green, blue := rgb(int32(v), int32(b[x])-128, int32(c[x])-128)
			p[0], p[1], p[2] = 255-red, 255-green, 255-blue
		}
	}
}

// rgb converts luma and colour differences by JFIF's formulas with 16 bits behind the point:
//
//	R = Y + 1.40200 Cr, G = Y - 0.34414 Cb - 0.71414 Cr, B = Y + 1.77200 Cb
func rgb(y, cb, cr int32) (r, g, b byte) {
	const half = 1 << 15
	return sample(y + (91881*cr+half)>>16), sample(y + (-22554*cb-46802*cr+half)>>16), sample(y + (116130*cb+half)>>16)
}

func sample(v int32) byte { return byte(max(0, min(v, 255))) }
