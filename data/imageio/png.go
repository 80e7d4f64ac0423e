package imageio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// PNG colour types, from the header chunk.
const (
	pngGray      = 0
	pngRGB       = 2
	pngPalette   = 3
	pngGrayAlpha = 4
	pngRGBAlpha  = 6
)

// pngFile is what the chunks of a PNG say, with those errors that libpng passes over passed over: a wrong checksum or length of a chunk that
// need not be understood, and whatever follows the pixels. Go's image/png refuses such files and does not read the gamma.
type pngFile struct {
	width, height, depth int
	kind                 byte
	interlaced           bool
	seenPalette          bool // a chunk PLTE, in images of any kind
	hasPalette           bool
	palette              [256][3]byte // R, G, B
	transparent          []byte       // the chunk tRNS
	significant          int          // bits of a colour, from the chunk sBIT; 0: not said
	space                pngSpace
	data                 [][]byte // the contents of the chunks IDAT
	ignored              []string // chunks with errors
}

func (p *pngFile) channels() int {
	switch p.kind {
	case pngRGB:
		return 3
	case pngGrayAlpha:
		return 2
	case pngRGBAlpha:
		return 4
	}
	return 1
}

// decodePNG reads a PNG as OpenCV does with libpng.
func decodePNG(file []byte, mode Mode) (rows, error) {
	p, err := parsePNG(file)
	if err != nil {
		return rows{}, err
	}
	if p.depth == 16 && mode == Unchanged {
		return rows{}, errors.New("16-bit PNG: its pixels must have 8 bits here, or force_color or force_gray must be set")
	}
	pixels, err := p.open(file)
	if err != nil {
		return rows{}, err
	}
	r := pixels.rows(mode)
	r.end = func() (string, error) { return p.repaired(), pixels.end() }
	return r, nil
}

// repaired names the chunks with errors that were passed over.
func (p *pngFile) repaired() string {
	switch n := len(p.ignored) - 1; {
	case n < 0:
		return ""
	case n == 0:
		return "ignored: " + p.ignored[0]
	default:
		return fmt.Sprintf("ignored: %s and %d more", p.ignored[0], n)
	}
}

var errCutPNG = errors.New("the PNG image ends early")

// parsePNG reads the chunks.
func parsePNG(file []byte) (*pngFile, error) {
	p := &pngFile{}
	rest := file[len(pngSignature):]
	inData := false
	for {
		if len(rest) < 12 {
			return nil, errCutPNG
		}
		n, name := int(binary.BigEndian.Uint32(rest)), string(rest[4:8])
		critical := name[0]&0x20 == 0
		switch {
		case bytes.ContainsFunc(rest[4:8], func(c rune) bool { return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') }):
			return nil, fmt.Errorf("the PNG image has a chunk %q", name)
		case n > len(rest)-12:
			return nil, errCutPNG
		}
		body := rest[8 : 8+n]
		good := crc32.ChecksumIEEE(rest[4:8+n]) == binary.BigEndian.Uint32(rest[8+n:])
		rest = rest[12+n:]
		first := p.width == 0
		inData = inData && name == "IDAT"
		switch {
		case !good && critical:
			return nil, fmt.Errorf("the PNG image's chunk %s has a wrong checksum", name)
		case !good:
			p.ignore(name, "a wrong checksum")
		case first != (name == "IHDR"):
			return nil, fmt.Errorf("the PNG image has a chunk %s where it should not be", name)
		case name == "IHDR":
			if err := p.header(body); err != nil {
				return nil, err
			}
		case name == "IDAT":
			if p.kind == pngPalette && !p.hasPalette {
				return nil, errors.New("the PNG image has no palette before its pixels")
			}
			if inData || p.data == nil {
				p.data, inData, p.space.closed = append(p.data, body), true, true
			}
		case name == "IEND":
			if p.data == nil {
				return nil, errors.New("the PNG image has no pixels")
			}
			return p, nil
		case name == "PLTE":
			if err := p.colours(body); err != nil {
				return nil, err
			}
		case critical:
			return nil, fmt.Errorf("the PNG image has a chunk %s, which is unknown and must be understood", name)
		default:
			p.ancillary(name, body)
		}
	}
}

func (p *pngFile) ignore(name, why string) {
	p.ignored = append(p.ignored, fmt.Sprintf("a chunk %s with %s", name, why))
}

// header reads the chunk IHDR.
func (p *pngFile) header(b []byte) error {
	if len(b) != 13 {
		return fmt.Errorf("the PNG image's header has %d bytes, it must have 13", len(b))
	}
	p.width, p.height = int(binary.BigEndian.Uint32(b)), int(binary.BigEndian.Uint32(b[4:]))
	p.depth, p.kind, p.interlaced = int(b[8]), b[9], b[12] == 1
	depths, known := map[byte][]int{pngGray: {1, 2, 4, 8, 16}, pngRGB: {8, 16}, pngPalette: {1, 2, 4, 8}, pngGrayAlpha: {8, 16}, pngRGBAlpha: {8, 16}}[p.kind]
	if !known || !slices.Contains(depths, p.depth) || b[10] != 0 || b[11] != 0 || b[12] > 1 {
		return fmt.Errorf("a PNG image of colour type %d, %d bits, compression %d, filter %d, interlacing %d, which does not exist", p.kind, b[8], b[10], b[11], b[12])
	}
	return checkSize(p.width, p.height)
}

// colours reads the chunk PLTE.
func (p *pngFile) colours(b []byte) error {
	switch {
	case p.seenPalette:
		return errors.New("the PNG image has two palettes")
	case p.data != nil:
		return nil
	}
	p.seenPalette = true
	switch {
	case p.kind != pngPalette:
		p.space.closed = true // of a colour image it is a hint for screens with few colours
		return nil
	case len(b) == 0 || len(b)%3 != 0 || len(b) > 768:
		return fmt.Errorf("the PNG image has a palette of %d bytes", len(b))
	}
	for i := range min(len(b)/3, 1<<p.depth) {
		copy(p.palette[i][:], b[3*i:])
	}
	p.hasPalette, p.space.closed = true, true
	return nil
}

// ancillary reads a chunk that need not be understood.
func (p *pngFile) ancillary(name string, b []byte) {
	switch {
	case name == "tRNS" && p.data == nil:
		p.transparent = b
	case name == "sBIT" && !p.space.closed && p.significant == 0 && len(b) == p.channels():
		if most := slices.Max(b); slices.Min(b) > 0 && int(most) <= p.depth {
			p.significant = int(slices.Max(b[:min(len(b), 3)]))
		}
	case name == "gAMA" || name == "sRGB" || name == "iCCP":
		if !p.space.take(name, b) {
			p.ignore(name, "what must not be there")
		}
	}
}
