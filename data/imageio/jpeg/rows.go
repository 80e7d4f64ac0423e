package jpeg

import (
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpixel"
)

// Rows makes rows of pixels, from the top to the bottom; rows may be left out. It reads the scan meanwhile, if the file has only one, and
// holds the samples of three rows of MCUs.
type Rows struct {
	d      *Decoder
	up     []*upsampler
	smooth bool
	next   int  // the next row of MCUs
	shed   bool // coefficients are given up behind the row of MCUs
}

// Rows returns the rows of an image behind Decode. It is called once.
func (d *Decoder) Rows() *Rows {
	r := &Rows{d: d, smooth: d.smoothable()}
	for i := range d.components {
		c := &d.components[i]
		c.units = c.v
		if len(d.components) == 1 { // MCUs are blocks
			c.units = 1
		}
		c.samples = sized(&d.buffers.samples[i], held*8*c.units*8*c.stride+vpixel.Padding)
		if c.quant == nil { // no scan has it
			c.quant = new([64]uint16)
		}
		if !d.several {
			c.coefficients = sized(&d.buffers.coefficients[i], 64*c.units*c.stride)
		}
		if r.smooth {
			c.estimated = sized(&d.buffers.estimated[i], 64*c.stride)
		}
		r.up = append(r.up, d.newUpsampler(i))
	}
	r.shed = d.several && d.abundant()
	return r
}

// A file of several scans without subsampling has coefficients of twice the size of the image. The image grows while they are used up, so that both
// together need no more memory than the coefficients alone.
const (
	shedBytes = 1 << 20 // that are given up at once
	shedLeast = 8 << 20 // for which that is worth the time
)

// abundant reports whether the coefficients take much more memory than the pixels.
func (d *Decoder) abundant() bool {
	bytes := 0
	for i := range d.components {
		bytes += 2 * len(d.components[i].coefficients)
	}
	return bytes > shedLeast && bytes > d.Width*d.Height*len(d.components)*5/4
}

// shed gives up coefficients of the rows of blocks before y, if they are enough.
func (c *component) shed(y int) {
	row := 64 * c.stride
	if n := (y - c.given) * row; 2*n >= shedBytes {
		pages.Release(c.coefficients[c.given*row:][:n])
		c.given = y
	}
}

// held is the number of rows of MCUs whose samples are held: interpolation needs those above and below a row.
const held = 3

// row is a row of samples of a component.
func (c *component) row(y int) []byte {
	return c.samples[y%(held*8*c.units)*8*c.stride:][:c.width+vpixel.Padding]
}

// prepare makes the samples that row y of the image needs.
func (r *Rows) prepare(y int) {
	first, last := y, 0
	for _, u := range r.up {
		near, far := u.near(y), u.other(y)
		size := 8 * u.c.units
		first, last = min(first, min(near, far)/size), max(last, max(near, far)/size)
	}
	if first+held <= last || r.next-held > first {
		panic("jpeg: rows of pixels are not in the order of the image")
	}
	for ; r.next <= last; r.next++ {
		if !r.d.several {
			r.read()
		}
		if r.next >= first {
			r.transform()
		}
	}
}

// read reads the coefficients of the next row of MCUs.
func (r *Rows) read() {
	for i := range r.d.components {
		clear(r.d.components[i].coefficients)
	}
	r.d.mcu.row()
}

// transform makes the samples of the next row of MCUs.
func (r *Rows) transform() {
	for i := range r.d.components {
		c := &r.d.components[i]
		n := min(c.across+c.across&1, c.stride) // kernels take two blocks at once
		for unit := range c.units {
			y := r.next*c.units + unit
			if y >= c.down {
				break
			}
			var values []int16
			switch {
			case r.smooth:
				values = c.smooth(y)
			case r.d.several:
				values = c.coefficients[64*y*c.stride:]
			default:
				values = c.coefficients[64*unit*c.stride:]
			}
			if r.shed {
				c.shed(y - 1) // the row above serves to smooth
			}
			vpixel.Transform(c.samples[y*8%(held*8*c.units)*8*c.stride:], 8*c.stride, values, c.quant, n)
		}
	}
}

// End reads what no row needed. After it, Warnings has all damage, and there are no more rows.
func (r *Rows) End() error {
	d := r.d
	defer d.release()
	if d.several {
		return nil
	}
	for ; r.next < d.scan.down && !d.mcu.spent(); r.next++ {
		r.read()
	}
	d.endScan()
	_, err := d.nextScan()
	return d.explain(err)
}

// First writes the first component of row y: grey of Grey and YCbCr images.
func (r *Rows) First(y int, out []byte) {
	if y = r.there(y, r.up[:1]); y < 0 {
		clear(out)
		return
	}
	r.prepare(y)
	copy(out, r.up[0].row(y)[:r.d.Width])
}

// BGR writes row y of a Grey, YCbCr or RGB image as B, G, R.
func (r *Rows) BGR(y int, out []byte) {
	if y = r.there(y, r.up); y < 0 {
		clear(out)
		return
	}
	r.prepare(y)
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
	vpixel.BGR(out, a, b, c)
}

// Samples writes row y as it is stored, whatever the colours: all components of a pixel side by side.
func (r *Rows) Samples(y int, out []byte) {
	r.prepare(y)
	n := len(r.up)
	for i, u := range r.up {
		for x, v := range u.row(y)[:r.d.Width] {
			out[x*n+i] = v
		}
	}
}

// CMYK writes row y of a CMYK or YCCK image as C, M, Y, K, as they are stored.
func (r *Rows) CMYK(y int, out []byte) {
	if y = r.there(y, r.up); y < 0 {
		clear(out)
		return
	}
	r.prepare(y)
	a := r.up[0].row(y)[:r.d.Width]
	b, c, k := r.up[1].row(y)[:len(a)], r.up[2].row(y)[:len(a)], r.up[3].row(y)[:len(a)]
	for x, v := range a {
		p := out[4*x:][:4]
		if p[0], p[1], p[2], p[3] = v, b[x], c[x], k[x]; r.d.Space == YCCK {
			red, green, blue := vpixel.RGB(v, b[x], c[x])
			p[0], p[1], p[2] = 255-red, 255-green, 255-blue
		}
	}
}
