// Package imageio decodes and resizes images so that pixels agree with OpenCV's, which Caffe uses: B, G, R order, alpha dropped, and bilinear
// resizing in OpenCV's 8-bit fixed-point arithmetic, without smoothing when it shrinks. Decode and DecodeResized return an Image.
//
// It reads JPEG (package jpeg), PNG, BMP, TIFF, WebP and PNM (PBM, PGM, PPM); the error for another known format names it. JPEGs have the pixels of libjpeg-turbo 2.0, which OpenCV 4.5 of
// Debian 11 reads them with, and are turned upright by Exif's orientation as OpenCV finds it but in mode Unchanged. Damaged JPEGs are read as far as libjpeg reads them, and Image.Repaired says so.
package imageio

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/swcaffe/swcaffe/data/regular"
)

// Image is an 8-bit image with interleaved channels: 1 (grey), 3 (B, G, R) or 4 (B, G, R, alpha). Rows are contiguous.
type Image struct {
	Height, Width, Channels int
	Pix                     []byte
	// Repaired names damage of the file that decoding has passed over, as libjpeg does in JPEGs: the rest of the image is there. It is empty for
	// a file without damage.
	Repaired string
	// Original is the height and the width that the image had before DecodeResized scaled it.
	Original [2]int

	own bool // Pix is memory of nothing else
}

// New returns a black image.
func New(height, width, channels int) *Image {
	return &Image{Height: height, Width: width, Channels: channels, Pix: make([]byte, height*width*channels)}
}

// mostSpare is the size up to which images' memory is handed on.
const mostSpare = 1 << 28

var spare sync.Pool // of *[]byte

// Recycle hands the memory of an image that nobody uses any more on to images that are decoded later, which then need no new memory.
func (im *Image) Recycle() {
	if pix := im.Pix; im.own && cap(pix) <= mostSpare {
		spare.Put(&pix)
	}
	im.Pix, im.own = nil, false
}

// fresh returns an image whose pixels are anything.
func fresh(height, width, channels int) *Image {
	n := height * width * channels
	if pix, ok := spare.Get().(*[]byte); ok && cap(*pix) >= n {
		return &Image{Height: height, Width: width, Channels: channels, Pix: (*pix)[:n], own: true}
	}
	im := New(height, width, channels)
	im.own = true
	return im
}

// Extensions lists the endings, in lower case, that files of the formats which Decode reads usually have.
func Extensions() []string {
	return []string{".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".pnm", ".pbm", ".pgm", ".ppm"}
}

// Mode selects the channels that Decode returns.
type Mode int

const (
	// Unchanged keeps the channels of the file, alpha included (cv::IMREAD_UNCHANGED). 16-bit files are an error.
	Unchanged Mode = iota
	// Color gives B, G, R (cv::IMREAD_COLOR).
	Color
	// Gray gives one channel (cv::IMREAD_GRAYSCALE).
	Gray
)

// OpenCV's limits on the size of an image.
const (
	maxPixels = 1 << 30
	maxSide   = 1 << 20
)

// Read decodes an image file.
func Read(path string, mode Mode) (*Image, error) {
	b, err := regular.ReadFile(path)
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
	p, err := Open(file, mode)
	if err != nil {
		return nil, err
	}
	return p.Image()
}

// DecodeItem decodes an image file that is an item of a database, as cv::imdecode does: JPEGs that end early have other pixels than on disk (jpeg.OpenItem).
func DecodeItem(file []byte, mode Mode) (*Image, error) {
	f, err := formatOf(file)
	if err != nil {
		return nil, err
	}
	decode := f.decode
	if f.item != nil {
		decode = f.item
	}
	r, err := decode(file, mode)
	if err != nil {
		return nil, err
	}
	return r.image()
}

// DecodeResized decodes an image file and scales the image as Resize does; resized reports whether its size changed. Apart from
// the decoder's own output, it never holds the whole image at its original size.
func DecodeResized(file []byte, mode Mode, height, width int) (im *Image, resized bool, err error) {
	if err := checkResized(height, width, 4); err != nil {
		return nil, false, err
	}
	p, err := Open(file, mode)
	if err != nil {
		return nil, false, err
	}
	h, w := p.Size()
	if err := p.Resize(height, width); err != nil {
		return nil, false, err
	}
	im, err = p.Image()
	if err == nil {
		im.Original = [2]int{h, w}
	}
	return im, h != height || w != width, err
}

// format is a kind of image file.
type format struct {
	name   string
	is     func(file []byte) bool
	decode func(file []byte, mode Mode) (rows, error)
	item   func(file []byte, mode Mode) (rows, error) // decodes an item of a database; nil: decode does
	header func(file []byte, f *Facts) error          // sets what a decoded image does not show
}

var formats = []format{
	{"JPEG", begins("\xff\xd8"), decodeJPEG, decodeJPEGItem, jpegHeader},
	{"PNG", begins(pngSignature), decodePNG, nil, pngHeader},
	{"BMP", begins("BM"), decodeBMP, nil, bmpHeader},
	{"TIFF", isTIFF, decodeTIFF, nil, tiffHeader},
	{"WebP", isWebP, decodeWebP, nil, webpHeader},
	{"PNM", isPNM, decodePNM, nil, pnmHeader},
}

func begins(signature string) func(file []byte) bool {
	return func(file []byte) bool { return bytes.HasPrefix(file, []byte(signature)) }
}

// formatOf finds a file's format by its first bytes. The error names a known one that is not read.
func formatOf(file []byte) (*format, error) {
	if len(file) == 0 {
		return nil, errors.New("the image is empty")
	}
	for i := range formats {
		if formats[i].is(file) {
			return &formats[i], nil
		}
	}
	return nil, unknown(file)
}

// weights convert B, G, R to grey: (b*B + g*G + r*R + round) >> shift.
type weights struct {
	b, g, r, round int32
	shift          uint
}

var (
	// readerWeights are the 14-bit weights of OpenCV's own readers.
	readerWeights = weights{1868, 9617, 4899, 1 << 13, 14}
	// colourWeights are the 15-bit weights of OpenCV's cvtColor.
	colourWeights = weights{3735, 19235, 9798, 1 << 14, 15}
	// pngWeights are libpng's truncated 15-bit versions of OpenCV's weights 0.299 and 0.587.
	pngWeights = weights{32768 - 9797 - 19234, 19234, 9797, 0, 15}
	// jpegWeights are libjpeg's 16-bit luma weights.
	jpegWeights = weights{7471, 38470, 19595, 1 << 15, 16}
)
