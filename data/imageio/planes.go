package imageio

// Planes returns the pixels channel by channel, the order of blobs and Datum messages.
func (im *Image) Planes() []byte {
	out := make([]byte, len(im.Pix))
	part(out, im.Height*im.Width, im.Pix, im.Channels)
	return out
}
