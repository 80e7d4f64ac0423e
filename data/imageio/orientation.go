package imageio

// turned returns an image that is stored with an Exif orientation, 1 to 8, as it is to be seen. Those from 5 on exchange height and width.
func (im *Image) turned(orientation int) *Image {
	if orientation <= 1 || orientation > 8 {
		return im
	}
	return im.rows().turned(orientation)
}

// turned makes the image upright while its rows are read.
func (r rows) turned(orientation int) *Image {
	to := fresh(r.height, r.width, r.channels)
	if orientation >= 5 {
		to.Height, to.Width = r.width, r.height
	}
	to.Repaired = r.repaired
	// Where the first stored pixel is in the result, and how far it is from there to the next one of its row and of its column.
	right, down := to.Channels, to.Width*to.Channels
	start := 0
	switch orientation {
	case 2, 3, 6, 7: // the first pixel is on the right
		start += (to.Width - 1) * right
		right = -right
	}
	switch orientation {
	case 3, 4, 7, 8: // at the bottom
		start += (to.Height - 1) * down
		down = -down
	}
	if orientation >= 5 {
		right, down = down, right
	}
	c := r.channels
	row := make([]byte, r.width*c)
	for y := range r.height {
		r.write(y, row)
		for x, at := 0, start+y*down; x < len(row); x, at = x+c, at+right {
			copy(to.Pix[at:at+c], row[x:])
		}
	}
	return to
}
