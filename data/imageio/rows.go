package imageio

// rows produces the pixels of an image row by row from a decoder's output. A large image therefore needs no second copy, and an
// image to be shrunk is never converted as a whole.
type rows struct {
	height, width, channels int                     // as they are stored
	orientation             int                     // of Exif, in which they are stored; 0 and 1: upright
	write                   func(y int, out []byte) // writes row y to out
	// storage, if not nil, is memory for all rows. It may overlap the decoder's output: row y never overwrites the source of a
	// later row.
	storage []byte
	// repaired names damage of the file that was passed over.
	repaired string
	// end, if not nil, is called behind the last row that is wanted. It reads what is left of the file, and returns what it repaired.
	end func() (repaired string, err error)
}

// finish reads what is left of the file behind the last row.
func (r rows) finish() (repaired string, err error) {
	if r.end == nil {
		return r.repaired, nil
	}
	return r.end()
}

// image produces all rows, upright.
func (r rows) image() (*Image, error) {
	var im *Image
	height, width := r.upright()
	row := r.width * r.channels
	if r.storage != nil && r.orientation <= 1 {
		im = &Image{Height: height, Width: width, Channels: r.channels, Pix: r.storage[:height*row]}
	} else {
		im = fresh(height, width, r.channels)
	}
	if r.orientation <= 1 {
		for y := range r.height {
			r.write(y, im.Pix[y*row:][:row])
		}
	} else {
		r.spread(im.Pix, r.layout(false))
	}
	var err error
	if im.Repaired, err = r.finish(); err != nil {
		return nil, err
	}
	return im, nil
}

// planes produces all rows, upright, channel by channel.
func (r rows) planes(out []byte) (repaired string, err error) {
	switch row := r.width * r.channels; {
	case r.orientation > 1:
		r.spread(out, r.layout(true))
	case r.channels == 1:
		for y := range r.height {
			r.write(y, out[y*row:][:row])
		}
	default:
		values, size := make([]byte, row), r.height*r.width
		for y := range r.height {
			r.write(y, values)
			part(out[y*r.width:], size, values, r.channels)
		}
	}
	return r.finish()
}

// part writes the channels of a row of pixels to rows that are size bytes apart.
func part(out []byte, size int, row []byte, channels int) {
	n := len(row) / channels
	if channels == 3 {
		blue, green, red := out[:n], out[size:][:n], out[2*size:][:n]
		for i := range blue {
			p := row[3*i:][:3]
			blue[i], green[i], red[i] = p[0], p[1], p[2]
		}
		return
	}
	for c := range channels {
		for i := range n {
			out[c*size+i] = row[i*channels+c]
		}
	}
}

// pass reads all rows and keeps none.
func (r rows) pass() (repaired string, err error) {
	row := make([]byte, r.width*r.channels)
	for y := range r.height {
		r.write(y, row)
	}
	return r.finish()
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
