package imageio

// Planes returns the pixels channel by channel, the order of blobs and Datum messages.
func (im *Image) Planes() []byte {
	out := make([]byte, len(im.Pix))
	plane := im.Height * im.Width
	if im.Channels == 3 {
		blue, green, red := out[:plane], out[plane:][:plane], out[2*plane:][:plane]
		for i := range blue {
			p := im.Pix[3*i:][:3]
			blue[i], green[i], red[i] = p[0], p[1], p[2]
		}
		return out
	}
	for c := range im.Channels {
		channel := out[c*plane : (c+1)*plane]
		for i, at := 0, c; i < plane; i, at = i+1, at+im.Channels {
			channel[i] = im.Pix[at]
		}
	}
	return out
}
