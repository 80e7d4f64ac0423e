package imageio

import (
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/data/imageio/jpeg"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// decodeJPEG decodes a JPEG. Grey is the luma channel, if the file has one. Damage inside the image's data is passed over, as by libjpeg, and
// named in the result. An image with an orientation of Exif is turned upright, but for mode Unchanged.
func decodeJPEG(file []byte, mode Mode) (rows, error) {
	d, err := jpeg.Open(file)
	if err != nil {
		return rows{}, err
	}
	if err := checkDensity(d.Width, d.Height, file); err != nil {
		return rows{}, err
	}
	_, needed := d.Samples()
	if err := pages.Room(needed + 3*float64(d.Width)*float64(d.Height)); err != nil {
		return rows{}, fmt.Errorf("an image of %d x %d pixels: %w", d.Width, d.Height, err)
	}
	if err := d.Decode(); err != nil {
		return rows{}, err
	}
	r := jpegRows(d, mode)
	r.repaired = strings.Join(d.Warnings, "; ")
	if mode != Unchanged && d.Orientation > 1 {
		return r.image().turned(d.Orientation).rows(), nil
	}
	return r, nil
}

// jpegRows returns the rows of a decoded JPEG.
func jpegRows(d *jpeg.Decoder, mode Mode) rows {
	pixels := d.Rows()
	bgr := rows{d.Height, d.Width, 3, pixels.BGR, nil, ""}
	switch {
	case d.Space == jpeg.CMYK || d.Space == jpeg.YCCK:
		bgr.write = fromCMYK(pixels, d.Width)
		if mode == Gray {
			return bgr.gray(readerWeights)
		}
		return bgr
	case mode == Gray && d.Space == jpeg.RGB:
		return bgr.gray(jpegWeights)
	case mode == Gray || d.Space == jpeg.Grey && mode != Color:
		return rows{d.Height, d.Width, 1, pixels.First, pixels.Storage(), ""}
	}
	return bgr
}

// fromCMYK returns a function that writes rows of B, G, R: stored values, which are inverted, scaled by black as OpenCV does.
func fromCMYK(pixels *jpeg.Rows, width int) func(y int, out []byte) {
	in := make([]byte, 4*width)
	return func(y int, out []byte) {
		pixels.CMYK(y, in)
		for x := range width {
			k := int(in[4*x+3])
			for c := range 3 {
				out[3*x+2-c] = byte(k - (255-int(in[4*x+c]))*k>>8)
			}
		}
	}
}
