package imageio

import (
	"errors"
	"fmt"
)

// ErrDense refuses a small file of a large image that would take long, which OpenCV reads: one of more than densePixels and byteDense for each
// byte. Pixels that take longer than those of 3 bytes count as several. A file of 1 MB then takes no more than about a second. Of JPEGs, package jpeg
// has its own limits.
var ErrDense = errors.New("the file is too small for so large an image")

const (
	densePixels = 40 << 20
	byteDense   = 8 // as many as images without compression have
	pixelBytes  = 3 // of a pixel that counts as one
)

// mostPixels is the number of pixels that an image in a file of so many bytes may have.
func mostPixels(size int) int { return densePixels + byteDense*size }

// checkDensity checks an image's size, also against that of its file. It keeps a damaged header from making the decoder allocate gigabytes.
// bytes are those of a pixel, or as many as take the same time.
func checkDensity(width, height, bytes int, file []byte) error {
	if err := checkSize(width, height); err != nil {
		return err
	}
	most, each := mostPixels(len(file)), ""
	if bytes > pixelBytes {
		each = fmt.Sprintf(" that count as %d bytes each", bytes)
	}
	if float64(width*height)*max(1, float64(bytes)/pixelBytes) > float64(most) {
		return fmt.Errorf("%w: %d x %d pixels%s in %d bytes, which may have %d pixels of %d bytes", ErrDense, width, height, each, len(file), most, pixelBytes)
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
