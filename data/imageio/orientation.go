package imageio

// turned returns an image that is stored with an Exif orientation, 1 to 8, as it is to be seen. Those from 5 on exchange height and width.
func (im *Image) turned(orientation int) *Image {
	if orientation <= 1 || orientation > 8 {
		return im
	}
	exchanged := orientation >= 5
	// Where in the stored image the first pixel of the result is, and how far it is to the next one of its row and of its column.
	c := im.Channels
	right, down := c, im.Width*c
	start := 0
	switch orientation {
	case 2, 3, 7, 8:
		start += (im.Width - 1) * right
	}
	switch orientation {
	case 3, 4, 6, 7:
		start += (im.Height - 1) * down
	}
	switch orientation {
	case 2:
		right = -right
	case 3:
		right, down = -right, -down
	case 4:
		down = -down
	case 5:
		right, down = down, right
	case 6:
		right, down = -down, right
	case 7:
		right, down = -down, -right
	case 8:
		right, down = down, -right
	}
	to := New(im.Height, im.Width, c)
	if exchanged {
		to.Height, to.Width = im.Width, im.Height
	}
	to.Repaired = im.Repaired
	out := to.Pix
	for y := range to.Height {
		at := start + y*down
		for range to.Width {
			copy(out[:c], im.Pix[at:])
			out, at = out[c:], at+right
		}
	}
	return to
}
