package imageio

import (
	"fmt"

	"github.com/swcaffe/swcaffe/data/imageio/jpeg"
	"github.com/swcaffe/swcaffe/data/regular"
)

// Facts says what an image file holds and how Decode reads it.
type Facts struct {
	Format string `json:"format"` // JPEG, PNG, BMP, TIFF, WebP or PNM
	// Height and Width are those of the image as it is to be seen; StoredHeight and StoredWidth those of the file, which an Orientation from 5 on exchanges.
	Height       int `json:"height"`
	Width        int `json:"width"`
	StoredHeight int `json:"stored_height"`
	StoredWidth  int `json:"stored_width"`
	Orientation  int `json:"orientation"` // of Exif or TIFF's tag 274, 1 to 8; 1: upright
	Channels     int `json:"channels"`    // of the file: 1 grey, 2 grey and alpha, 3 colours, 4 colours and alpha, or CMYK
	Bits         int `json:"bits"`        // of a stored value; of a palette's, those of an index
	// Repaired names damage that is passed over, "" for a file without damage.
	Repaired string `json:"repaired"`
}

// Gray reports whether the file has no colours.
func (f *Facts) Gray() bool { return f.Channels <= 2 }

// Describe decodes an image file in mode Color and says how that went. The error is Decode's.
func Describe(file []byte) (*Facts, error) {
	p, err := Open(file, Color)
	if err != nil {
		return nil, err
	}
	height, width := p.Size()
	repaired, err := p.Pass()
	if err != nil {
		return nil, err
	}
	return facts(file, height, width, repaired)
}

// DescribeFile is Describe for a file by its name.
func DescribeFile(path string) (*Facts, error) {
	file, err := regular.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Describe(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// ReadDescribed is Read, and says how that went.
func ReadDescribed(path string, mode Mode) (*Image, *Facts, error) {
	file, err := regular.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	im, err := Decode(file, mode)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	f, err := facts(file, im.Height, im.Width, im.Repaired)
	return im, f, err
}

// facts reads the header of a file that was decoded.
func facts(file []byte, height, width int, repaired string) (*Facts, error) {
	kind, err := formatOf(file)
	if err != nil {
		return nil, err
	}
	f := &Facts{
		Format: kind.name, Height: height, Width: width, StoredHeight: height, StoredWidth: width, Orientation: 1, Channels: 3, Bits: 8, Repaired: repaired,
	}
	return f, kind.header(file, f)
}

func jpegHeader(file []byte, f *Facts) error {
	d, err := jpeg.Open(file)
	if err != nil {
		return err
	}
	f.StoredHeight, f.StoredWidth, f.Orientation, f.Channels = d.Height, d.Width, exifOrientation(file), d.Components()
	return nil
}

func pngHeader(file []byte, f *Facts) error {
	p, err := parsePNG(file)
	if err != nil {
		return err
	}
	if f.Bits = p.depth; p.kind != pngPalette {
		f.Channels = p.channels()
	}
	if f.Channels%2 == 1 && p.transparent != nil {
		f.Channels++
	}
	return nil
}

func bmpHeader(file []byte, f *Facts) error {
	b, err := parseBMP(file)
	if err != nil {
		return err
	}
	switch {
	case b.bits < 8:
		f.Bits = b.bits
	case b.bits == 15 || b.bits == 16:
		f.Bits = 5
	case b.bits == 32:
		f.Channels = 4
	}
	if b.grey {
		f.Channels = 1
	}
	return nil
}

func tiffHeader(file []byte, f *Facts) error {
	t, err := parseTIFF(file)
	if err != nil {
		return err
	}
	f.StoredHeight, f.StoredWidth, f.Orientation, f.Bits = t.height, t.width, max(1, t.orientation), t.bits
	if t.photometric != isPalette {
		f.Channels = t.samples
	}
	return nil
}

func webpHeader(file []byte, f *Facts) error {
	if webpAlpha(file) {
		f.Channels = 4
	}
	return nil
}

func pnmHeader(file []byte, f *Facts) error {
	r := pnmReader{rest: file[2:]}
	r.number()
	r.number()
	kind := (file[1]-'1')%3 + 1
	if kind != pixmap {
		f.Channels = 1
	}
	if kind == bitmap {
		f.Bits = 1
	} else if r.number() > 255 {
		f.Bits = 16
	}
	return r.err
}
