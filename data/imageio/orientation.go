package imageio

// upright is the size of the image as it is to be seen. Orientations from 5 on exchange height and width.
func (r rows) upright() (height, width int) {
	if r.orientation >= 5 {
		return r.width, r.height
	}
	return r.height, r.width
}

// layout is where the pixels that a file stores are in an upright image: channel c of pixel x of row y at start + y*down + x*right + c*next.
type layout struct{ start, down, right, next int }

// layout returns the layout by the rows' orientation, of an image whose channels lie together or in planes.
func (r rows) layout(planes bool) layout {
	height, width := r.upright()
	l := layout{right: r.channels, down: width * r.channels, next: 1}
	if planes {
		l = layout{right: 1, down: width, next: height * width}
	}
	switch r.orientation {
	case 2, 3, 6, 7: // the first stored pixel is on the right
		l.start += (width - 1) * l.right
		l.right = -l.right
	}
	switch r.orientation {
	case 3, 4, 7, 8: // at the bottom
		l.start += (height - 1) * l.down
		l.down = -l.down
	}
	if r.orientation >= 5 {
		l.right, l.down = l.down, l.right
	}
	return l
}

// together is the number of rows that spread reads at once, so that it writes to neighbouring bytes where they become columns.
const together = 16

// spread writes all pixels to the places of a layout.
func (r rows) spread(out []byte, l layout) {
	row := r.width * r.channels
	values := make([]byte, together*row)
	for y := 0; y < r.height; y += together {
		n := min(together, r.height-y)
		for k := range n {
			r.write(y+k, values[k*row:][:row])
		}
		for x := range r.width {
			for c := range r.channels {
				at, from := l.start+y*l.down+x*l.right+c*l.next, x*r.channels+c
				for range n {
					out[at] = values[from]
					at, from = at+l.down, from+row
				}
			}
		}
	}
}

// turned returns an image that is stored with an orientation, 1 to 8, as it is to be seen.
func (im *Image) turned(orientation int) *Image {
	if orientation <= 1 || orientation > 8 {
		return im
	}
	r := im.rows()
	r.orientation = orientation
	im, _ = r.image() // of pixels that are there
	return im
}
