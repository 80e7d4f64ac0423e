package imageio

// Picture is an image file whose size is known. Most formats have not been decoded by then: one of the methods Image, Planes and Pass, which is
// called once, makes the pixels row by row.
type Picture struct{ rows rows }

// Open reads an image file's header, and its pixels where the format does not deliver them row by row. It keeps the file.
func Open(file []byte, mode Mode) (*Picture, error) {
	f, err := formatOf(file)
	if err != nil {
		return nil, err
	}
	r, err := f.decode(file, mode)
	if err != nil {
		return nil, err
	}
	return &Picture{r}, nil
}

// Picture returns an image as a picture.
func (im *Image) Picture() *Picture { return &Picture{im.rows()} }

// Channels is the number of values of a pixel.
func (p *Picture) Channels() int { return p.rows.channels }

// Size is the size of the image, upright.
func (p *Picture) Size() (height, width int) { return p.rows.upright() }

// Resize makes the picture's image one of height x width, as Image.Resize does. Apart from the decoder's own output, the image at its original size is
// never held as a whole, unless the file stores it turned. A size too large for memory is an error, and so is damage of such a file.
func (p *Picture) Resize(height, width int) error {
	if h, w := p.Size(); h == height && w == width {
		return nil
	}
	if err := checkResized(height, width, p.rows.channels); err != nil {
		return err
	}
	if p.rows.orientation > 1 {
		im, err := p.rows.image()
		if err != nil {
			return err
		}
		p.rows = im.rows()
		p.rows.end = func() (string, error) {
			im.Recycle()
			return im.Repaired, nil
		}
	}
	p.rows = p.rows.resize(height, width)
	return nil
}

// Image decodes the image.
func (p *Picture) Image() (*Image, error) { return p.rows.image() }

// Planes decodes the image channel by channel, the order of blobs and Datum messages, into channels x height x width bytes. It returns the damage of
// the file that was passed over, like Image.Repaired.
func (p *Picture) Planes(out []byte) (repaired string, err error) {
	height, width := p.Size()
	return p.rows.planes(out[:p.rows.channels*height*width])
}

// Pass decodes the image and keeps nothing of it. It returns the damage that was passed over, or why the image cannot be decoded.
func (p *Picture) Pass() (repaired string, err error) { return p.rows.pass() }
