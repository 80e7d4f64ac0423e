package imageio

import (
	"bytes"

	"github.com/swcaffe/swcaffe/data/imageio/jpeg"
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

// Describe decodes an image file in mode Color and says how that went. The error is Decode's.
func Describe(file []byte) (*Facts, error) {
	im, err := Decode(file, Color)
	if err != nil {
		return nil, err
	}
	defer im.Recycle()
	f, err := header(file)
	if err != nil {
		return nil, err
	}
	f.Height, f.Width, f.Repaired = im.Height, im.Width, im.Repaired
	if f.StoredHeight == 0 {
		f.StoredHeight, f.StoredWidth = im.Height, im.Width
	}
	f.Orientation = max(1, f.Orientation)
	return f, nil
}

// header reads what the decoded image does not show.
func header(file []byte) (*Facts, error) {
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xd8")):
		d, err := jpeg.Open(file)
		if err != nil {
			return nil, err
		}
		return &Facts{Format: "JPEG", StoredHeight: d.Height, StoredWidth: d.Width, Orientation: d.Orientation, Channels: d.Components(), Bits: 8}, nil
	case bytes.HasPrefix(file, []byte(pngSignature)):
		p, err := parsePNG(file)
		if err != nil {
			return nil, err
		}
		f := &Facts{Format: "PNG", Channels: p.channels(), Bits: p.depth}
		if p.kind == pngPalette {
			f.Channels = 3
		}
		if f.Channels%2 == 1 && p.transparent != nil {
			f.Channels++
		}
		return f, nil
	case bytes.HasPrefix(file, []byte("BM")):
		b, err := parseBMP(file)
		if err != nil {
			return nil, err
		}
		f := &Facts{Format: "BMP", Channels: 3, Bits: 8}
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
		return f, nil
	case isTIFF(file):
		t, err := parseTIFF(file)
		if err != nil {
			return nil, err
		}
		f := &Facts{Format: "TIFF", StoredHeight: t.height, StoredWidth: t.width, Orientation: t.orientation, Channels: t.samples, Bits: t.bits}
		if t.photometric == isPalette {
			f.Channels = 3
		}
		return f, nil
	case isWebP(file):
		f := &Facts{Format: "WebP", Channels: 3, Bits: 8}
		if webpAlpha(file) {
			f.Channels = 4
		}
		return f, nil
	}
	return pnmHeader(file), nil
}

// pnmHeader is header for a PNM that has been decoded.
func pnmHeader(file []byte) *Facts {
	f, r := &Facts{Format: "PNM", Channels: 1, Bits: 8}, pnmReader{rest: file[2:]}
	r.number()
	r.number()
	switch kind := (file[1]-'1')%3 + 1; {
	case kind == bitmap:
		f.Bits = 1
		return f
	case kind == pixmap:
		f.Channels = 3
	}
	if r.number() > 255 {
		f.Bits = 16
	}
	return f
}
