// Package jpeg decodes JPEG files (ITU T.81) to the pixels that libjpeg-turbo makes of them, to the bit, and treats damaged files as it does.
//
// A Decoder reads a file. Open reads the headers before the first scan: size and colour space. Decode reads the scans of files that
// spread coefficients over several. Rows makes pixels: First, BGR and CMYK write a row.
//
//	markers.go      segments between scans: tables, frames, scans, colour space
//	bits.go         the bits of a scan, up to the next marker; restart markers
//	huffman.go      Huffman tables and codes
//	scan.go         the scans of a file
//	mcu.go          the blocks of a scan
//	sequential.go   sequential scans, which decode every coefficient of a block at once
//	progressive.go  progressive scans, which refine the coefficients of all blocks
//	arithmetic.go   the same scans in arithmetic coding
//	item.go         items of databases, which are read otherwise if they end early
//	waiting.go      where libjpeg waits for more bytes of them
//	smooth.go       AC coefficients that are not known yet, estimated from the neighbours' DC coefficients
//	buffers.go      memory that decoders hand on
//	upsample.go     chroma at full resolution
//	rows.go         rows of samples and of pixels
//
// The arithmetic on coefficients and samples is that of package vpixel.
//
// Two kinds of damage in sequential scans of Huffman codes have other pixels in the block than libjpeg-turbo's, which depend there on how much of the
// file its buffer holds: a code that the table lacks, which is 0 here and in its versions from 2.1 on, and ff ff 00 in the data.
//
// A file of 12 bits, a lossless or hierarchical one, and one whose height comes behind its scan, are refused, as by libjpeg-turbo.
package jpeg

import (
	"errors"
	"fmt"
	"slices"
)

// Space is the colour space of a file.
type Space int

const (
	Grey    Space = iota // one component
	YCbCr                // luma and two colour differences
	RGB                  // stored as they are
	CMYK                 // usually stored inverted, as Adobe's programs do
	YCCK                 // CMYK, of which C, M and Y are stored as YCbCr
	Unknown              // some other number of components: there are no pixels of it
	Stored               // any: Rows.Samples alone writes the values
)

// Decoder reads a JPEG file.
type Decoder struct {
	Width, Height int
	Space         Space
	// Warnings are the kinds of damage that were passed over, each once, in the order of their appearance.
	Warnings []string

	file []byte
	pos  int  // the next byte to read
	last byte // a marker that has been read, but not its segment; 0: none

	quant      [4]*[64]uint16 // in natural order
	huff       [2][4]*codes   // DC and AC tables
	arithmetic bool
	condition  conditioning
	restart    int // MCUs between restart markers; 0: there are none

	progressive bool
	components  []component
	maxH, maxV  int
	scan        scan
	mcu         *mcu // the walk over the current scan
	several     bool // several scans share the blocks
	scans       int
	buffers     *buffers
	visits      int // blocks of all scans until now
	adobe       int // the transform of an Adobe marker; -1: there is none
	jfif        bool
	item        bool // by OpenItem
	groups      int  // groups of maxV rows of pixels that an item has; -1: all
}

// component is one of the arrays of samples that a file stores.
type component struct {
	id, h, v, table int // sampling factors; the number of the quantisation table
	quant           *[64]uint16
	width, height   int // in samples, without padding
	across, down    int // blocks that cover them
	stride, rows    int // blocks with padding to whole MCUs
	dc, ac          int // Huffman or arithmetic tables of the current scan

	coefficients []int16  // of all blocks, or of a row of MCUs
	nonzero      []uint64 // progressive with Huffman codes: see mcu.nonzero
	given        int      // rows of blocks whose coefficients have been given up
	estimated    []int16  // of a row of blocks
	units        int      // rows of blocks in a row of MCUs
	samples      []byte   // of a few rows of MCUs
	bits         [64]int8 // progressive: the bits of each coefficient that are still unknown; -1: none is known
}

// maxSide is libjpeg's limit on height and width.
const maxSide = 65500

// ErrDense refuses a small file whose image would take long, which libjpeg reads: one with more than mostPixels and bytePixels for each byte,
// or with scans that pass over too many blocks. The usual Huffman codes need a byte for at most 85 pixels of one colour, but no photograph has so many.
var ErrDense = errors.New("the JPEG is too small for so large an image")

const (
	mostPixels = 1 << 25
	bytePixels = 64
)

// Open reads the headers of a file up to its first scan.
func Open(file []byte) (*Decoder, error) {
	d := &Decoder{file: file, adobe: -1}
	if len(file) < 2 || file[0] != 0xff || file[1] != markerSOI {
		return nil, fmt.Errorf("no JPEG: it does not begin with ff d8")
	}
	d.pos = 2
	d.condition.reset()
	for {
		m, err := d.segment()
		if err != nil {
			return nil, d.explain(err)
		}
		switch m {
		case markerSOS:
			d.guessSpace()
			if d.Width*d.Height > mostPixels+bytePixels*len(file) {
				return nil, fmt.Errorf("%w: it has %d bytes, height %d and width %d", ErrDense, len(file), d.Height, d.Width)
			}
			return d, nil
		case markerEOI:
			return nil, fmt.Errorf("the JPEG has no image data")
		}
	}
}

// Components is the number of values that the file has for a pixel.
func (d *Decoder) Components() int { return len(d.components) }

// Memory is about the number of bytes that Decode and Rows need.
func (d *Decoder) Memory() float64 {
	sum := 0.0
	for i := range d.components {
		c := &d.components[i]
		rows := float64(c.v) // of blocks whose coefficients are kept
		if d.severalScans() {
			rows = float64(c.rows)
		}
		sum += 64 * float64(c.stride) * (2*rows + held*float64(c.v))
		if d.progressive {
			sum += 8 * float64(c.stride) * rows
		}
	}
	return sum
}

// severalScans reports whether coefficients must be kept until the last scan.
func (d *Decoder) severalScans() bool { return d.progressive || len(d.scan.of) < len(d.components) }

// warn notes damage that is passed over.
func (d *Decoder) warn(what string) {
	if !slices.Contains(d.Warnings, what) {
		d.Warnings = append(d.Warnings, what)
	}
}

// badCode is the warning of a code that means nothing.
const badCode = "a code of the image data is damaged"

// earlyEnd is the warning of a file that is shorter than its content should be.
const earlyEnd = "the file ends early"

// explain adds the end of the file to an error to which what is behind the end may have led.
func (d *Decoder) explain(err error) error {
	if err != nil && err != errEnd && slices.Contains(d.Warnings, earlyEnd) {
		return fmt.Errorf("%w: %w", errEnd, err)
	}
	return err
}

// guessSpace sets the colour space, by libjpeg's rules: the JFIF marker, then Adobe's, then the components' names.
func (d *Decoder) guessSpace() {
	switch len(d.components) {
	case 1:
		d.Space = Grey
	case 3:
		ids := [3]int{d.components[0].id, d.components[1].id, d.components[2].id}
		if d.Space = YCbCr; !d.jfif && (d.adobe == 0 || d.adobe < 0 && ids == [3]int{'R', 'G', 'B'}) {
			d.Space = RGB
		}
	case 4:
		if d.Space = CMYK; d.adobe > 0 {
			d.Space = YCCK
		}
	default:
		d.Space = Unknown
	}
}
