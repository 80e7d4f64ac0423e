package imageio

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
	// end, if not nil, is called behind the last row that is wanted. It reads what is left of the file, and returns what it repaired.
	end func() (repaired string)
}

// whole finishes an image made of the rows.
func (r rows) whole(im *Image) *Image {
	if r.end != nil {
		im.Repaired = r.end()
	}
	return im
}

// image produces all rows.
func (r rows) image() *Image {
	row := r.width * r.channels
	var im *Image
	if r.storage != nil {
		im = &Image{Height: r.height, Width: r.width, Channels: r.channels, Pix: r.storage[:r.height*row]}
	} else {
		im = fresh(r.height, r.width, r.channels)
	}
	im.Repaired = r.repaired
	for y := range r.height {
		r.write(y, im.Pix[y*row:][:row])
	}
	return im
}

// rows returns the rows of an image without conversion.
func (im *Image) rows() rows {
	row := im.Width * im.Channels
	return rows{height: im.Height, width: im.Width, channels: im.Channels, write: func(y int, out []byte) { copy(out, im.Pix[y*row:]) },
		storage: im.Pix, repaired: im.Repaired}
}

// gray converts B, G, R to grey.
func (r rows) gray(w weights) rows {
	from, to := make([]byte, r.width*3), r
	to.channels = 1
	to.write = func(y int, out []byte) {
		r.write(y, from)
		for i := range out {
			p := from[3*i : 3*i+3]
			out[i] = byte((w.b*int32(p[0]) + w.g*int32(p[1]) + w.r*int32(p[2]) + w.round) >> w.shift)
		}
	}
	return to
}

// replicate converts grey to B, G, R.
func (r rows) replicate() rows {
	from, to := make([]byte, r.width), r
	to.channels, to.storage = 3, nil
	to.write = func(y int, out []byte) {
		r.write(y, from)
		for i, v := range from {
			p := out[3*i : 3*i+3]
			p[0], p[1], p[2] = v, v, v
		}
	}
	return to
}

// withAlpha adds an alpha channel to B, G, R.
func (r rows) withAlpha(alpha func(x, y int) byte) rows {
	from, to := make([]byte, r.width*3), r
	to.channels, to.storage = 4, nil
	to.write = func(y int, out []byte) {
		r.write(y, from)
		for x := range r.width {
			copy(out[4*x:4*x+3], from[3*x:])
			out[4*x+3] = alpha(x, y)
		}
	}
	return to
}
