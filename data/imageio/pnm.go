package imageio

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// isPNM reports whether a file begins as PBM (P1, P4), PGM (P2, P5) and PPM (P3, P6) images do.
func isPNM(file []byte) bool {
	return len(file) > 2 && file[0] == 'P' && '1' <= file[1] && file[1] <= '6' && isSpace(file[2])
}

// decodePNM reads a PBM, PGM or PPM image. As in OpenCV, text values are scaled so that the largest becomes 255. 8-bit binary
// values are unchanged, and 16-bit binary values keep their upper 8 bits.
func decodePNM(file []byte, mode Mode) (rows, error) {
	r := pnmReader{rest: file[2:]}
	kind := (file[1]-'1')%3 + 1
	width, height, most := r.number(), r.number(), 1
	if kind != bitmap {
		most = r.number()
	}
	if r.err != nil {
		return rows{}, r.err
	}
	switch {
	case width <= 0 || height <= 0 || width > maxSide || height > maxSide || width > maxPixels/height || width*height/8 > len(file):
		return rows{}, fmt.Errorf("a PNM image of %d x %d pixels cannot be in %d bytes", width, height, len(file))
	case most < 1 || most > 65535:
		return rows{}, fmt.Errorf("the largest value of the PNM image is %d, it must be 1 to 65535", most)
	case most > 255 && mode == Unchanged:
		return rows{}, errors.New("16-bit PNM: its pixels must have 8 bits here, or force_color or force_gray must be set")
	}
	channels := 1
	if kind == pixmap {
		channels = 3
	}
	if err := pages.Room(float64(width) * float64(height) * 4); err != nil {
		return rows{}, fmt.Errorf("an image of %d x %d pixels: %w", width, height, err)
	}
	pixels := rows{height: height, width: width, channels: channels}
	if file[1] <= '3' {
		im := New(height, width, channels)
		r.digits(im.Pix, kind, most)
		pixels = im.rows()
	} else {
		pixels.write = r.bytes(width*channels, height, kind, most)
	}
	if r.err != nil {
		return rows{}, r.err
	}
	if channels == 1 {
		if mode == Color {
			return pixels.replicate(), nil
		}
		return pixels, nil
	}
	bgr := pixels
	bgr.write = func(y int, out []byte) {
		pixels.write(y, out)
		for i := 0; i < len(out); i += 3 {
			out[i], out[i+2] = out[i+2], out[i]
		}
	}
	if mode == Gray {
		return bgr.gray(readerWeights), nil
	}
	return bgr, nil
}

// Kinds of PNM images.
const (
	bitmap  = 1 // bits, 1 is black
	greymap = 2
	pixmap  = 3 // red, green, blue
)

var errCutPNM = errors.New("the PNM image ends early")

// pnmReader consumes rest from its front. After an error it sets err and stops.
type pnmReader struct {
	rest []byte
	err  error
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// skip skips white space and comments. A comment runs from # to the end of the line.
func (r *pnmReader) skip() {
	for comment := false; len(r.rest) > 0; r.rest = r.rest[1:] {
		switch c := r.rest[0]; {
		case comment:
			comment = c != '\n' && c != '\r'
		case c == '#':
			comment = true
		case !isSpace(c):
			return
		}
	}
}

// number reads decimal digits and the byte that ends them, whatever it is.
func (r *pnmReader) number() int {
	r.skip()
	n := 0
	for n < len(r.rest) && '0' <= r.rest[n] && r.rest[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(string(r.rest[:n]))
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("the PNM image has %q where a number should be", r.rest[:min(max(n, 1), 12, len(r.rest))])
		if len(r.rest) == 0 {
			r.err = errCutPNM
		}
	}
	if n == len(r.rest) {
		r.rest = nil
		if r.err == nil {
			r.err = errCutPNM
		}
		return v
	}
	r.rest = r.rest[n+1:]
	return v
}

// digits reads values in text form. Bits need no space between them.
func (r *pnmReader) digits(out []byte, kind byte, most int) {
	for i := range out {
		if kind == bitmap {
			out[i] = r.bit()
		} else if v := min(r.number(), most); most > 255 {
			out[i] = byte(v >> 8)
		} else {
			out[i] = byte(v * 255 / most)
		}
		if r.err != nil {
			return
		}
	}
}

// bit reads a 0, white, or another digit, black.
func (r *pnmReader) bit() byte {
	r.skip()
	switch {
	case len(r.rest) == 0:
		r.err = errCutPNM
		return 0
	case r.rest[0] < '0' || r.rest[0] > '9':
		r.err = fmt.Errorf("the PBM image has %q where a bit should be", r.rest[0])
		return 0
	}
	black := r.rest[0] != '0'
	if r.rest = r.rest[1:]; black {
		return 0
	}
	return 255
}

// bytes returns a function that reads rows of n binary values of 1, 8 or 16 bits.
func (r *pnmReader) bytes(n, height int, kind byte, most int) func(y int, out []byte) {
	size := n // bytes of a row in the file
	switch {
	case kind == bitmap:
		size = (n + 7) / 8
	case most > 255:
		size = 2 * n
	}
	if len(r.rest) < size*height {
		r.err = errCutPNM
		return nil
	}
	return func(y int, out []byte) {
		switch in := r.rest[y*size:][:size]; {
		case kind == bitmap:
			for x := range out {
				out[x] = 255 * (1 - in[x/8]>>(7-x%8)&1)
			}
		case most > 255:
			pick(out, in, 2)
		default:
			copy(out, in)
		}
	}
}
