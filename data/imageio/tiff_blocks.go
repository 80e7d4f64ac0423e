package imageio

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/xi2/xz"
	"golang.org/x/image/tiff/lzw"
)

// tiffBlock is a decoded strip or tile: its place in the image, its size, and its samples, pixel by pixel. Values of 16 bits have their upper byte first.
type tiffBlock struct {
	x, y, width, height int
	used                int // columns within the image
	samples             []byte

	buffer, plane []byte // memory for blocks, and for one sample where the file has them apart
}

// TIFF's ways of compression.
const (
	tiffPlain, tiffRuns, tiffFax3, tiffFax4, tiffLZW, tiffOldJPEG, tiffJPEG, tiffDeflate = 1, 2, 3, 4, 5, 6, 7, 8
	tiffPackBits, tiffOldDeflate, tiffLZMA, tiffZstd, tiffWebP                           = 32773, 32946, 34925, 50000, 50001
)

func (t *tiffFile) across() int { return (t.width + t.blockWidth - 1) / t.blockWidth }
func (t *tiffFile) down() int   { return (t.height + t.blockHeight - 1) / t.blockHeight }

// decode decodes block i. The samples are valid until the next one.
func (t *tiffFile) decode(b *tiffBlock, i int) (err error) {
	across := t.across()
	b.x, b.y, b.width, b.height = i%across*t.blockWidth, i/across*t.blockHeight, t.blockWidth, t.blockHeight
	if !t.tiled {
		b.height = min(b.height, t.height-b.y)
	}
	b.used = min(b.width, t.width-b.x)
	if !t.separate {
		b.samples, err = t.block(&b.buffer, i, b.width, b.height, t.samples)
		return err
	}
	size := max(1, t.bits/8)
	b.samples = space(&b.buffer, b.width*b.height*t.samples*size)
	for s := range t.samples {
		part, err := t.block(&b.plane, i+s*across*t.down(), b.width, b.height, 1)
		if err != nil {
			return err
		}
		for at := range b.width * b.height {
			copy(b.samples[(at*t.samples+s)*size:][:size], part[at*size:])
		}
	}
	return nil
}

// mostShared is how many times blocks may use the same bytes of the file, on average.
const mostShared = 8

// space returns n zeros, in a buffer that grows if it is too short.
func space(buffer *[]byte, n int) []byte {
	if cap(*buffer) < n {
		*buffer = make([]byte, n)
	}
	clear((*buffer)[:n])
	return (*buffer)[:n]
}

// block reads block i, of so many samples a pixel, into a buffer. Where nothing is to be converted it returns a part of the file.
func (t *tiffFile) block(buffer *[]byte, i, width, height, samples int) ([]byte, error) {
	need := (width*samples*t.bits + 7) / 8 * height
	if h, v := t.subsampled(); h*v > 1 && samples == 3 {
		need = (width + h - 1) / h * ((height + v - 1) / v) * (h*v + 2)
	}
	offset, count := t.offsets[i], float64(len(t.file))-t.offsets[i]
	switch {
	case i < len(t.counts):
		count = t.counts[i]
	case t.method == tiffPlain:
		count = float64(need)
	}
	if count <= 0 || offset < 0 || offset+count > float64(len(t.file)) {
		return nil, errCutTIFF
	}
	raw := t.file[int(offset):][:int(count)]
	if t.used += len(raw); t.used > 1<<20+mostShared*len(t.file) {
		return nil, fmt.Errorf("%w: the first %d strips or tiles of a TIFF image of %d bytes have %d", ErrDense, i+1, len(t.file), t.used)
	}
	switch t.method {
	case tiffJPEG:
		return t.jpegBlock(space(buffer, width*height*samples), i, raw, width, height, samples)
	case tiffWebP:
		return t.webpBlock(i, raw, width, height, samples)
	}
	reversed := t.number(tagFillOrder, 1) == 2
	used := need
	if h, v := t.subsampled(); v == 4 && !t.tiled && samples == 3 { // libtiff counts bytes by rows of pixels, and loses a rest
		used = (width + h - 1) / h * (h*v + 2) / v * ((height + v - 1) / v * v)
	}
	if t.method == tiffPlain && t.bits <= 8 && !reversed && len(raw) >= need && used == need {
		return raw[:need], nil
	}
	if reversed {
		raw = slices.Clone(raw)
		for k, v := range raw {
			raw[k] = bits.Reverse8(v)
		}
	}
	out := space(buffer, need)
	if t.method == tiffRuns || t.method == tiffFax3 || t.method == tiffFax4 {
		return out, t.fax(i, out, raw, width)
	}
	r, err := t.decompressor(raw)
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, out); err != nil {
		t.damaged(i, fmt.Errorf("block %d: %w", i, err))
		if t.bits == 16 { // libtiff leaves the order of bytes and the differences as they are
			swapPairs(out)
		}
		return out, nil
	}
	clear(out[used:])
	return out, t.finish(out, width, samples)
}

// decompressor returns a reader of a block's samples.
func (t *tiffFile) decompressor(raw []byte) (io.Reader, error) {
	in := bytes.NewReader(raw)
	switch t.method {
	case tiffPlain:
		return in, nil
	case tiffPackBits:
		return &packBits{in: raw}, nil
	case tiffLZW:
		return lzw.NewReader(in, lzw.MSB, 8), nil
	case tiffDeflate, tiffOldDeflate:
		return t.inflater(in), nil
	case tiffZstd:
		return t.zstdReader(in), nil
	case tiffLZMA:
		return t.xzReader(in), nil
	}
	name, known := map[int]string{tiffOldJPEG: "by JPEG in the way of TIFF 6.0", 34712: "by JPEG 2000", 34887: "by LERC", 34676: "by LogLuv", 34661: "by JBIG"}[t.method]
	if !known {
		name = fmt.Sprintf("in way %d", t.method)
	}
	return nil, fmt.Errorf("a TIFF image compressed %s, which swcaffe does not read: convert it, for example to PNG", name)
}

// fax reads a block of black and white rows.
func (t *tiffFile) fax(i int, out, raw []byte, width int) error {
	if t.bits != 1 || t.samples != 1 {
		return fmt.Errorf("a TIFF image compressed as a fax with %d samples of %d bits", t.samples, t.bits)
	}
	twoDimensions := t.method == tiffFax3 && t.number(tagFaxOptions, 0)&1 != 0
	if err := decodeFax(&t.runs, out, raw, width, t.method, twoDimensions); err != nil {
		t.damaged(i, err)
	}
	return nil
}

// The readers below are made for the first block and serve all.

func (t *tiffFile) inflater(in io.Reader) (r io.Reader) {
	var err error
	if t.zlib == nil {
		t.zlib, err = zlib.NewReader(in)
	} else {
		err = t.zlib.(zlib.Resetter).Reset(in, nil)
	}
	if err != nil {
		return failing{err}
	}
	return t.zlib
}

// zstdReader has room for the windows of all levels of compression.
func (t *tiffFile) zstdReader(in io.Reader) (r io.Reader) {
	var err error
	if t.zstd == nil {
		t.zstd, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1<<27))
	} else {
		err = t.zstd.Reset(in)
	}
	if err != nil {
		return failing{err}
	}
	return t.zstd
}

func (t *tiffFile) xzReader(in io.Reader) (r io.Reader) {
	const mostDictionary = 1 << 26
	var err error
	if t.xz == nil {
		t.xz, err = xz.NewReader(in, mostDictionary)
	} else {
		err = t.xz.Reset(in)
	}
	if err != nil {
		return failing{err}
	}
	return t.xz
}

// failing is a reader of nothing.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// finish adds differences up, if the block has them, and puts the upper byte first.
func (t *tiffFile) finish(out []byte, width, samples int) error {
	if t.bits == 16 && !t.bigEndian() {
		swapPairs(out)
	}
	if t.number(tagPredictor, 1) == 1 || !slices.Contains([]int{tiffLZW, tiffDeflate, tiffOldDeflate, tiffLZMA, tiffZstd}, t.method) {
		return nil
	}
	if t.number(tagPredictor, 1) != 2 || t.bits == 1 {
		return fmt.Errorf("a TIFF image with predictor %d for %d bits", t.number(tagPredictor, 1), t.bits)
	}
	row, step := width*samples*t.bits/8, samples*t.bits/8
	for ; len(out) >= row && row > 0; out = out[row:] {
		for i := step; i < row; i++ {
			if t.bits == 8 {
				out[i] += out[i-step]
			} else if i++; true {
				v := int(out[i-1])<<8 + int(out[i]) + int(out[i-1-step])<<8 + int(out[i-step])
				out[i-1], out[i] = byte(v>>8), byte(v)
			}
		}
	}
	return nil
}

func swapPairs(b []byte) {
	for i := 0; i+1 < len(b); i += 2 {
		b[i], b[i+1] = b[i+1], b[i]
	}
}

// packBits reads runs: a byte n from 0 to 127 before n+1 bytes, from 129 to 255 before a byte that is repeated 257-n times; 128 is nothing.
type packBits struct {
	in    []byte
	count int // bytes of the run to come
	same  bool
}

func (p *packBits) Read(out []byte) (n int, err error) {
	for n < len(out) {
		if p.count == 0 {
			if len(p.in) < 2 {
				return n, io.ErrUnexpectedEOF
			}
			code := p.in[0]
			p.in = p.in[1:]
			switch {
			case code < 128:
				p.count, p.same = int(code)+1, false
			case code > 128:
				p.count, p.same = 257-int(code), true
			}
			continue
		}
		if len(p.in) == 0 {
			return n, io.ErrUnexpectedEOF
		}
		out[n] = p.in[0]
		n, p.count = n+1, p.count-1
		if !p.same || p.count == 0 {
			p.in = p.in[1:]
		}
	}
	return n, nil
}
