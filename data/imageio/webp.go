package imageio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"

	"golang.org/x/image/webp"

	"github.com/swcaffe/swcaffe/internal/base/pages"
)

func isWebP(file []byte) bool {
	return len(file) > 16 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP"
}

// webpAlpha reports whether a WebP says that it has alpha.
func webpAlpha(file []byte) bool {
	switch string(file[12:16]) {
	case "VP8X":
		return len(file) > 20 && file[20]&0x10 != 0
	case "VP8L":
		return len(file) > 24 && file[24]&0x10 != 0
	}
	return false
}

// decodeWebP reads a WebP with golang.org/x/image and converts it as OpenCV does with libwebp. Alpha is dropped, not multiplied by.
func decodeWebP(file []byte, mode Mode) (rows, error) {
	if int(binary.LittleEndian.Uint32(file[4:])) > len(file)-8 {
		return rows{}, errCutWebP
	}
	c, err := webp.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return rows{}, webpError(err)
	}
	if err := checkDensity(c.Width, c.Height, webpBytes, file); err != nil {
		return rows{}, err
	}
	if err := pages.Room(float64(c.Width) * float64(c.Height) * 6.5); err != nil {
		return rows{}, fmt.Errorf("an image of %d x %d pixels: %w", c.Width, c.Height, err)
	}
	src, err := webp.Decode(bytes.NewReader(file))
	if err != nil {
		return rows{}, webpError(err)
	}
	r := rows{height: c.Height, width: c.Width, channels: 3}
	var alpha func(x, y int) byte
	switch s := src.(type) {
	case *image.NRGBA:
		r.write, r.storage = func(y int, out []byte) { swap(out, s.Pix[y*s.Stride:], 4, 1) }, s.Pix
		alpha = func(x, y int) byte { return s.Pix[y*s.Stride+4*x+3] }
	case *image.YCbCr:
		r.write = fancyRows(s)
		alpha = func(int, int) byte { return 255 }
	case *image.NYCbCrA:
		r.write = fancyRows(&s.YCbCr)
		alpha = func(x, y int) byte { return s.A[y*s.AStride+x] }
	default:
		return rows{}, fmt.Errorf("a WebP image of kind %T", src)
	}
	switch {
	case mode == Gray:
		return r.gray(colourWeights), nil
	case mode == Unchanged && webpAlpha(file):
		r.storage = nil
		return r.withAlpha(alpha), nil
	}
	return r, nil
}

// webpBytes is as what a pixel counts, which can take twice as long as one of another format.
const webpBytes = 2 * pixelBytes

var errCutWebP = errors.New("the WebP image ends early")

func webpError(err error) error {
	if err.Error() == "unexpected EOF" || err.Error() == "EOF" {
		return errCutWebP
	}
	return fmt.Errorf("the WebP image: %w", err)
}

// fancyRows converts rows of YCbCr to B, G, R as libwebp does: chroma is interpolated between its four nearest samples, 9:3:3:1.
func fancyRows(s *image.YCbCr) func(y int, out []byte) {
	width, height := s.Rect.Dx(), s.Rect.Dy()
	across, down := (width+1)/2, (height+1)/2
	line := func(plane []byte, row int) []byte { return plane[max(0, min(row, down-1))*s.CStride:][:across] }
	return func(y int, out []byte) {
		next := y/2 - 1 + y%2*2
		nearB, farB := line(s.Cb, y/2), line(s.Cb, next)
		nearR, farR := line(s.Cr, y/2), line(s.Cr, next)
		luma := s.Y[y*s.YStride:][:width]
		for x, l := range luma {
			at := x / 2
			beside := at - 1 + x%2*2
			u, v := int32(0), int32(0)
			if beside < 0 || beside >= across {
				u, v = (3*int32(nearB[at])+int32(farB[at])+2)>>2, (3*int32(nearR[at])+int32(farR[at])+2)>>2
			} else {
				u, v = between(nearB, farB, at, beside), between(nearR, farR, at, beside)
			}
			webpPixel(out[3*x:3*x+3], int32(l), u, v)
		}
	}
}

// between interpolates with libwebp's rounding: eighths first, then the mean with the nearest sample.
func between(near, far []byte, at, beside int) int32 {
	a, b, c, d := int32(near[at]), int32(near[beside]), int32(far[at]), int32(far[beside])
	return ((a+3*b+3*c+d+8)>>3 + a) >> 1
}

// webpPixel converts a pixel of ITU-R BT.601 with values from 16 to 235 to B, G, R: products of 8 and 14 bits, of which 6 stay behind the point.
func webpPixel(out []byte, y, u, v int32) {
	l := y * 19077 >> 8
	out[0] = saturated((l + u*33050>>8 - 17685) >> 6)
	out[1] = saturated((l - u*6419>>8 - v*13320>>8 + 8708) >> 6)
	out[2] = saturated((l + v*26149>>8 - 14234) >> 6)
}
