package imageio

import (
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/data/imageio/jpeg"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// decodeJPEG decodes a JPEG. Grey is the luma channel, if the file has one. Damage inside the image's data is passed over, as by libjpeg, and
// named in the result. An image with an orientation of Exif is turned upright, but for mode Unchanged.
func decodeJPEG(file []byte, mode Mode) (rows, error) {
	d, err := jpeg.Open(file)
	if err != nil {
		return rows{}, err
	}
	return decodeOpened(d, file, mode)
}

// decodeJPEGItem decodes a JPEG that is an item of a database.
func decodeJPEGItem(file []byte, mode Mode) (rows, error) {
	d, err := jpeg.OpenItem(file)
	if err != nil {
		return rows{}, err
	}
	return decodeOpened(d, file, mode)
}

func decodeOpened(d *jpeg.Decoder, file []byte, mode Mode) (rows, error) {
	if err := checkSize(d.Width, d.Height); err != nil {
		return rows{}, err
	}
	if err := pages.Room(d.Memory() + 3*float64(d.Width)*float64(d.Height)); err != nil {
		return rows{}, fmt.Errorf("an image of %d x %d pixels: %w", d.Width, d.Height, err)
	}
	if err := d.Decode(); err != nil {
		return rows{}, err
	}
	r := jpegRows(d, mode)
	if mode != Unchanged {
		r.orientation = exifOrientation(file)
	}
	return r, nil
}

// jpegRows returns the rows of a JPEG.
func jpegRows(d *jpeg.Decoder, mode Mode) rows {
	pixels := d.Rows()
	r := rows{height: d.Height, width: d.Width, channels: 3, write: pixels.BGR}
	r.end = func() (string, error) {
		err := pixels.End()
		damage := d.Warnings
		if err != nil { // behind the last row: OpenCV has all pixels by then
			damage = append(damage, err.Error())
		}
		return strings.Join(damage, "; "), nil
	}
	switch {
	case d.Space == jpeg.CMYK || d.Space == jpeg.YCCK:
		r.write = fromCMYK(pixels, d.Width)
		if mode == Gray {
			return r.gray(readerWeights)
		}
	case mode == Gray && d.Space == jpeg.RGB:
		return r.gray(jpegWeights)
	case mode == Gray || d.Space == jpeg.Grey && mode != Color:
		r.channels, r.write = 1, pixels.First
	}
	return r
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
