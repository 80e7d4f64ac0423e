package imageio

import "fmt"

// maxPixelsPerByte exceeds the densest packing of all formats: PNG, with deflate's 1032 to 1 and 8 pixels a byte. It keeps a
// damaged header from making the decoder allocate gigabytes.
const maxPixelsPerByte = 8300

// checkDensity checks an image's size, also against that of its file.
func checkDensity(width, height int, file []byte) error {
	if err := checkSize(width, height); err != nil {
		return err
	}
	if width*height/maxPixelsPerByte > len(file) {
		return fmt.Errorf("an image of %d x %d pixels cannot be in %d bytes", width, height, len(file))
	}
	return nil
}

func checkSize(width, height int) error {
	if width <= 0 || height <= 0 || width > maxSide || height > maxSide || width > maxPixels/height {
		return fmt.Errorf("an image of %d x %d pixels: it may have %d, and sides of %d", width, height, maxPixels, maxSide)
	}
	return nil
}

// swap converts R, G, B values to B, G, R. A pixel of in has pitch bytes, a value step bytes, of which the first is the highest.
func swap(out, in []byte, pitch, step int) {
	for i, at := 0, 0; i < len(out); i, at = i+3, at+pitch {
		out[i], out[i+1], out[i+2] = in[at+2*step], in[at+step], in[at]
	}
}
