package imageio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/xi2/xz"

	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// TIFF tags, and values of them.
const (
	tagWidth, tagHeight, tagBits, tagMethod, tagPhotometric = 256, 257, 258, 259, 262
	tagFillOrder, tagOffsets, tagOrientation, tagSamples    = 266, 273, 274, 277
	tagRows, tagCounts, tagPlanar, tagFaxOptions            = 278, 279, 284, 292
	tagPredictor, tagWhite, tagColours, tagTileWidth        = 317, 318, 320, 322
	tagTileHeight, tagTileOffsets, tagTileCounts, tagInks   = 323, 324, 325, 332
	tagExtra, tagFormat, tagTables, tagLuma                 = 338, 339, 347, 529
	tagSubsampling, tagReference                            = 530, 532

	whiteIsZero, blackIsZero, isRGB, isPalette, isSeparated, isYCbCr, isLab = 0, 1, 2, 3, 5, 6, 8
)

// tiffFile is the first directory of a TIFF, and how its pixels are stored: in blocks, which are tiles or strips of rows.
type tiffFile struct {
	file  []byte
	order binary.ByteOrder
	tags  map[int][]float64

	width, height, bits, samples     int
	method, photometric, orientation int
	tiled, separate                  bool // separate: each sample has blocks of its own
	blockWidth, blockHeight          int
	offsets, counts                  []float64
	extra                            int // samples past the colours
	alpha                            int // what the first of them is: 0 nothing, 1 alpha that colours are multiplied by, 2 alpha alone
	palette                          [256][3]byte
	damage                           []damage
	tables                           []byte // of all JPEGs in the file
	used                             int    // bytes of all blocks until now
	passes                           int    // of all JPEGs' scans over blocks of 8x8
	zlib                             io.ReadCloser
	zstd                             *zstd.Decoder
	xz                               *xz.Reader
	runs                             [2][]uint32 // of rows of faxes
}

// isTIFF reports whether a file begins with the signature of a TIFF, in either byte order.
func isTIFF(file []byte) bool {
	return len(file) > 4 && (string(file[:4]) == "II*\x00" || string(file[:4]) == "MM\x00*")
}

var errCutTIFF = errors.New("the TIFF image ends early")

// decodeTIFF reads the first image of a TIFF as OpenCV does with libtiff: as red, green, blue and alpha of 8 bits, colours multiplied by alpha, turned by the tag
// of its orientation in every mode. A block with damage is there as far as it could be read.
func decodeTIFF(file []byte, mode Mode) (rows, error) {
	t, err := parseTIFF(file)
	if err != nil {
		return rows{}, err
	}
	channels, err := t.channels(mode)
	if err != nil {
		return rows{}, err
	}
	convert, err := t.converter()
	if err != nil {
		return rows{}, err
	}
	band := float64(t.width+t.blockWidth) * float64(t.blockHeight) * float64(t.samples*max(1, t.bits/8))
	if err := pages.Room(float64(t.width)*float64(t.height)*float64(channels) + band); err != nil {
		return rows{}, fmt.Errorf("an image of %d x %d pixels: %w", t.width, t.height, err)
	}
	return t.rows(convert, channels), nil
}

// channels is the number of values of a pixel that OpenCV has in a mode.
func (t *tiffFile) channels(mode Mode) (int, error) {
	grey := t.photometric == whiteIsZero || t.photometric == blackIsZero
	switch {
	case t.samples > 4:
		return 0, fmt.Errorf("a TIFF image of %d samples a pixel: OpenCV and swcaffe read up to 4", t.samples)
	case t.bits != 1 && t.bits != 8 && t.bits != 16:
		return 0, fmt.Errorf("a TIFF image of %d bits a sample: OpenCV and swcaffe read 1, 8 and 16 as pixels", t.bits)
	case mode == Gray:
		return 1, nil
	case mode == Color:
		return 3, nil
	case t.bits == 16 && t.photometric <= isRGB && t.samples != 2:
		return 0, errors.New("16-bit TIFF: its pixels must have 8 bits here, or force_color or force_gray must be set")
	case grey, t.bits == 1:
		return 1, nil
	case t.photometric == isPalette:
		return 3, nil
	case t.samples < 3:
		return 0, fmt.Errorf("a TIFF image of %d samples a pixel that is not grey: force_color or force_gray must be set", t.samples)
	}
	return t.samples, nil
}

// parseTIFF reads the first directory.
func parseTIFF(file []byte) (*tiffFile, error) {
	t := &tiffFile{file: file, order: binary.LittleEndian, tags: map[int][]float64{}}
	if file[0] == 'M' {
		t.order = binary.BigEndian
	}
	if err := t.directory(); err != nil {
		return nil, err
	}
	t.width, t.height = t.number(tagWidth, 0), t.number(tagHeight, 0)
	t.bits, t.samples, t.method = t.number(tagBits, 1), t.number(tagSamples, 1), t.number(tagMethod, 1)
	t.photometric, t.orientation = t.number(tagPhotometric, -1), t.number(tagOrientation, 1)
	t.separate = t.number(tagPlanar, 1) == 2 && t.samples > 1
	if err := checkDensity(t.width, t.height, pixelBytes, file); err != nil {
		return nil, err
	}
	switch {
	case t.photometric < 0:
		return nil, errors.New("the TIFF image does not say what its values are: it has no PhotometricInterpretation")
	case t.samples < 1 || t.samples > math.MaxUint16:
		return nil, fmt.Errorf("a TIFF image of %d samples a pixel", t.samples)
	case t.number(tagFormat, 1) == 3:
		return nil, errors.New("a TIFF image of floating-point numbers, which OpenCV does not read as pixels either")
	}
	for _, bits := range t.tags[tagBits] {
		if int(bits) != t.bits {
			return nil, errors.New("a TIFF image with samples of different numbers of bits")
		}
	}
	t.findAlpha()
	return t, t.findBlocks()
}

// findAlpha reads what samples past the colours are.
func (t *tiffFile) findAlpha() {
	extra := t.tags[tagExtra]
	t.extra = len(extra)
	switch {
	case t.extra > 0 && (extra[0] == 1 || extra[0] == 2):
		t.alpha = int(extra[0])
	case t.extra > 0 && extra[0] == 0 && t.samples > 3:
		t.alpha = 1
	case t.extra == 0 && t.samples == 4 && t.photometric == isRGB:
		t.alpha, t.extra = 1, 1
	}
}

// A tile may have so many pixels, or so many times those of the image.
const (
	mostTile    = 1 << 20
	mostPadding = 4
)

// findBlocks reads the sizes and places of strips or tiles.
func (t *tiffFile) findBlocks() error {
	t.blockWidth, t.blockHeight = t.width, min(t.number(tagRows, t.height), t.height)
	t.offsets, t.counts = t.tags[tagOffsets], t.tags[tagCounts]
	if _, t.tiled = t.tags[tagTileWidth]; t.tiled {
		t.blockWidth, t.blockHeight = t.number(tagTileWidth, 0), t.number(tagTileHeight, 0)
		if t.tags[tagTileOffsets] != nil {
			t.offsets, t.counts = t.tags[tagTileOffsets], t.tags[tagTileCounts]
		}
	}
	if t.blockHeight == 0 && !t.tiled {
		t.blockHeight = t.height
	}
	if t.blockWidth <= 0 || t.blockHeight <= 0 || t.blockWidth > 2*max(t.width, 2048) || t.blockHeight > 2*max(t.height, 2048) {
		return fmt.Errorf("a TIFF image of %d x %d pixels in tiles of %d x %d", t.width, t.height, t.blockWidth, t.blockHeight)
	}
	if area := t.blockWidth * t.blockHeight; area > max(mostTile, mostPadding*t.width*t.height) {
		return fmt.Errorf("%w: a TIFF image of %d x %d pixels in tiles of %d x %d", ErrDense, t.width, t.height, t.blockWidth, t.blockHeight)
	}
	across, down := (t.width+t.blockWidth-1)/t.blockWidth, (t.height+t.blockHeight-1)/t.blockHeight
	need := across * down
	if t.separate {
		need *= t.samples
	}
	if len(t.offsets) < need {
		return fmt.Errorf("the TIFF image has %d strips or tiles, it needs %d", len(t.offsets), need)
	}
	return nil
}
