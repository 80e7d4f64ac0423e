package imageio

import "image"

// rows produces the pixels of an image row by row from a decoder's output. A large image therefore needs no second copy, and an
// image to be shrunk is never converted as a whole.
type rows struct {
	height, width, channels int
	write                   func(y int, out []byte) // writes row y to out
	// storage, if not nil, is memory for all rows. It may overlap the decoder's output: row y never overwrites the source of a
	// later row.
	storage []byte
	// repaired names damage of the file that was passed over.
	repaired string
}

// image produces all rows.
func (r rows) image() *Image {
	row := r.width * r.channels
	im := &Image{Height: r.height, Width: r.width, Channels: r.channels, Repaired: r.repaired}
	if r.storage != nil {
		im.Pix = r.storage[:r.height*row]
	} else {
		im.Pix = make([]byte, r.height*row)
	}
	for y := range r.height {
		r.write(y, im.Pix[y*row:][:row])
	}
	return im
}

// rows returns the rows of an image without conversion.
func (im *Image) rows() rows {
	row := im.Width * im.Channels
	return rows{im.Height, im.Width, im.Channels, func(y int, out []byte) { copy(out, im.Pix[y*row:]) }, im.Pix, im.Repaired}
}

// gray converts B, G, R to grey.
func (r rows) gray(w weights) rows {
	from := make([]byte, r.width*3)
	return rows{r.height, r.width, 1, func(y int, out []byte) {
		r.write(y, from)
		for i := range out {
			p := from[3*i : 3*i+3]
			out[i] = byte((w.b*int32(p[0]) + w.g*int32(p[1]) + w.r*int32(p[2]) + w.round) >> w.shift)
		}
	}, r.storage, r.repaired}
}

// replicate converts grey to B, G, R.
func (r rows) replicate() rows {
	from := make([]byte, r.width)
	return rows{r.height, r.width, 3, func(y int, out []byte) {
		r.write(y, from)
		for i, v := range from {
			p := out[3*i : 3*i+3]
			p[0], p[1], p[2] = v, v, v
		}
	}, nil, r.repaired}
}

// withAlpha adds the alpha channel of src to B, G, R.
func (r rows) withAlpha(src image.Image) rows {
	from := make([]byte, r.width*3)
	return rows{r.height, r.width, 4, func(y int, out []byte) {
		r.write(y, from)
		for x := range r.width {
			copy(out[4*x:4*x+3], from[3*x:])
			out[4*x+3] = straight(src.At(x, y))[3]
		}
	}, nil, r.repaired}
}

// withoutAlpha drops alpha.
func (r rows) withoutAlpha() rows {
	from := make([]byte, r.width*4)
	return rows{r.height, r.width, 3, func(y int, out []byte) {
		r.write(y, from)
		for x := range r.width {
			copy(out[3*x:3*x+3], from[4*x:])
		}
	}, r.storage, r.repaired}
}
