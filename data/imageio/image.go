// Package imageio decodes and resizes images so that pixels agree with what OpenCV gives Caffe: B, G, R order, chroma
// of JPEGs interpolated as libjpeg does ("fancy upsampling"), alpha dropped, and bilinear resizing in OpenCV's 8-bit
// fixed-point arithmetic, which does not smooth when it shrinks.
//
// JPEG, PNG, BMP, TIFF and PNM (PBM, PGM, PPM) are read. Against OpenCV 4.5 and 4.6 all but a JPEG are exact, which may
// differ by 3 of 255 (the rounding of the inverse cosine transform).
package imageio

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// Image is an 8-bit image, its channels interleaved: 1 (grey), 3 (B, G, R) or 4 (B, G, R, alpha) of them. Rows follow
// each other without gaps.
type Image struct {
	Height, Width, Channels int
	Pix                     []byte
}

// New returns a black image.
func New(height, width, channels int) *Image {
	return &Image{height, width, channels, make([]byte, height*width*channels)}
}

// Mode says which channels Decode gives.
type Mode int

const (
	// Unchanged keeps the channels of the file, alpha included (cv::IMREAD_UNCHANGED). 16-bit files are refused.
	Unchanged Mode = iota
	// Color gives B, G, R (cv::IMREAD_COLOR).
	Color
	// Gray gives one channel (cv::IMREAD_GRAYSCALE).
	Gray
)

// maxPixels is OpenCV's limit on the size of an image.
const maxPixels = 1 << 30

// Read decodes an image file.
func Read(path string, mode Mode) (*Image, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	im, err := Decode(b, mode)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return im, nil
}

// Decode decodes the bytes of an image file.
func Decode(file []byte, mode Mode) (*Image, error) {
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xd8")):
		src, err := decode(file, jpeg.DecodeConfig, jpeg.Decode)
		if err != nil {
			return nil, err
		}
		return fromJPEG(src, mode)
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")):
		src, err := decode(file, png.DecodeConfig, png.Decode)
		if err != nil {
			return nil, err
		}
		return fromPNG(src, file[25], mode)
	case bytes.HasPrefix(file, []byte("BM")):
		src, err := decode(file, bmp.DecodeConfig, bmp.Decode)
		if err != nil {
			return nil, err
		}
		return fromBMP(src, mode), nil
	case isTIFF(file):
		src, err := decode(file, tiff.DecodeConfig, tiff.Decode)
		if err != nil {
			return nil, err
		}
		return fromTIFF(src, mode)
	case isPNM(file):
		return decodePNM(file, mode)
	case len(file) == 0:
		return nil, errors.New("the image is empty")
	}
	return nil, fmt.Errorf("not a JPEG, PNG, BMP, TIFF or PNM image (it begins with % x)", file[:min(8, len(file))])
}

// fromBMP converts a decoded BMP. Palettes give colour, as in OpenCV.
func fromBMP(src image.Image, mode Mode) *Image {
	dst := colours(src)
	if mode == Gray {
		return dst.gray(readerWeights)
	}
	return dst
}

// weights turn B, G, R into grey: (b*B + g*G + r*R + round) >> shift.
type weights struct {
	b, g, r, round int32
	shift          uint
}

var (
	// readerWeights are those of OpenCV's own readers, 14 bits.
	readerWeights = weights{1868, 9617, 4899, 1 << 13, 14}
	// pngWeights are what libpng makes of OpenCV's 0.299 and 0.587, with its truncation.
	pngWeights = weights{32768 - 9797 - 19234, 19234, 9797, 0, 15}
	// jpegWeights are libjpeg's luma, 16 bits.
	jpegWeights = weights{7471, 38470, 19595, 1 << 15, 16}
)

// gray converts a B, G, R image.
func (im *Image) gray(w weights) *Image {
	dst := New(im.Height, im.Width, 1)
	for i := range dst.Pix {
		p := im.Pix[3*i : 3*i+3]
		dst.Pix[i] = byte((w.b*int32(p[0]) + w.g*int32(p[1]) + w.r*int32(p[2]) + w.round) >> w.shift)
	}
	return dst
}

// replicate makes B, G, R of a grey image.
func (im *Image) replicate() *Image {
	dst := New(im.Height, im.Width, 3)
	for i, v := range im.Pix {
		p := dst.Pix[3*i : 3*i+3]
		p[0], p[1], p[2] = v, v, v
	}
	return dst
}
