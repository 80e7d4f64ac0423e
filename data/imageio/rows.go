package imageio

import "image"

// rows are the pixels of an image that are made row by row, of what a decoder has left. So a large image is not held several times, and one
// that is scaled down never as a whole.
type rows struct {
	height, width, channels int
	write                   func(y int, out []byte) // row y to out
	// storage, if not nil, has room for all rows, each of which may overwrite what those from it on, and no others, are made of.
	storage []byte
}

// image makes all rows.
func (r rows) image() *Image {
	row := r.width * r.channels
	im := &Image{Height: r.height, Width: r.width, Channels: r.channels}
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

// rows of an image are its own.
func (im *Image) rows() rows {
	row := im.Width * im.Channels
	return rows{im.Height, im.Width, im.Channels, func(y int, out []byte) { copy(out, im.Pix[y*row:]) }, im.Pix}
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
	}, r.storage}
}

// replicate makes B, G, R of grey.
func (r rows) replicate() rows {
	from := make([]byte, r.width)
	return rows{r.height, r.width, 3, func(y int, out []byte) {
		r.write(y, from)
		for i, v := range from {
			p := out[3*i : 3*i+3]
			p[0], p[1], p[2] = v, v, v
		}
	}, nil}
}

// withAlpha adds the alpha of src to B, G, R.
func (r rows) withAlpha(src image.Image) rows {
	from := make([]byte, r.width*3)
	return rows{r.height, r.width, 4, func(y int, out []byte) {
		r.write(y, from)
		for x := range r.width {
			copy(out[4*x:4*x+3], from[3*x:])
			out[4*x+3] = straight(src.At(x, y))[3]
		}
	}, nil}
}

// withoutAlpha makes B, G, R of B, G, R, alpha.
func (r rows) withoutAlpha() rows {
	from := make([]byte, r.width*4)
	return rows{r.height, r.width, 3, func(y int, out []byte) {
		r.write(y, from)
		for x := range r.width {
			copy(out[3*x:3*x+3], from[4*x:])
		}
	}, r.storage}
}
