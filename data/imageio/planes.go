package imageio

// Planes returns the pixels channel by channel, the order of blobs and Datum messages.
func (im *Image) Planes() []byte {
	out := make([]byte, len(im.Pix))
	plane := im.Height * im.Width
	for c := range im.Channels {
		channel := out[c*plane : (c+1)*plane]
		for i, at := 0, c; i < plane; i, at = i+1, at+im.Channels {
			channel[i] = im.Pix[at]
		}
	}
	return out
}
