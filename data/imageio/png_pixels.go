package imageio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// passes are the parts of an interlaced image: the first column and row, and the steps to the next ones.
var passes = [7][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

// bytesPerRow is the size of a row of packed pixels.
func (p *pngFile) bytesPerRow(width int) int { return (width*p.channels()*p.depth + 7) / 8 }

// pngRows reads the image's rows as the file packs them, one after the other; of an interlaced image all at once.
type pngRows struct {
	*pngFile
	in         io.Reader
	now, above []byte // each behind its filter
	next       int    // the row behind now
	err        error  // why there are no more rows
	all        []byte // of an interlaced image
}

// open begins with the pixels.
func (p *pngFile) open(file []byte) (*pngRows, error) {
	row := p.bytesPerRow(p.width)
	if err := checkDensity(p.width, p.height, p.channels()*p.depth/8, file); err != nil {
		return nil, err
	}
	if err := pages.Room(float64(p.height) * float64(row+3*p.width)); err != nil {
		return nil, fmt.Errorf("an image of %d x %d pixels: %w", p.width, p.height, err)
	}
	parts := make([]io.Reader, len(p.data))
	for i, part := range p.data {
		parts[i] = bytes.NewReader(part)
	}
	in, err := zlib.NewReader(io.MultiReader(parts...))
	if err != nil {
		return nil, pngError(err)
	}
	r := &pngRows{pngFile: p, in: in, now: make([]byte, 1+row), above: make([]byte, 1+row)}
	if p.interlaced {
		r.next, r.all = p.height, make([]byte, p.height*row)
		if err := p.interlacedRows(in, r.all); err != nil {
			return nil, pngError(err)
		}
	}
	return r, nil
}

// row returns row y, until the next call. Rows are asked for from the top to the bottom; some may be left out.
func (r *pngRows) row(y int) []byte {
	if r.all != nil {
		size := len(r.now) - 1
		return r.all[y*size:][:size]
	}
	for r.next <= y && r.err == nil {
		r.now, r.above = r.above, r.now
		r.err = r.filtered(r.in, r.now, r.above[1:])
		r.next++
	}
	return r.now[1:]
}

// end reads what is left. What follows the last row is passed over, but the checksum that ends the data must be right.
func (r *pngRows) end() error {
	if r.row(r.height - 1); r.err != nil {
		return pngError(r.err)
	}
	if n, err := r.in.Read(make([]byte, 1)); n == 0 && err != nil && !errors.Is(err, io.EOF) {
		return pngError(err)
	}
	return nil
}

func pngError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the PNG image's pixels end early")
	}
	return fmt.Errorf("the PNG image's pixels: %w", err)
}

// filtered reads a row behind its filter, and undoes that.
func (p *pngFile) filtered(in io.Reader, now, above []byte) error {
	if _, err := io.ReadFull(in, now); err != nil {
		return err
	}
	return unfilter(now[0], now[1:], above, max(1, p.channels()*p.depth/8))
}

// unfilter turns differences from the pixel to the left, that above, their mean or the nearest of three (Paeth) into values.
func unfilter(filter byte, now, above []byte, step int) error {
	switch filter {
	case 0:
	case 1:
		for i := step; i < len(now); i++ {
			now[i] += now[i-step]
		}
	case 2:
		for i, v := range above {
			now[i] += v
		}
	case 3:
		for i := range now {
			left := 0
			if i >= step {
				left = int(now[i-step])
			}
			now[i] += byte((left + int(above[i])) / 2)
		}
	case 4:
		for i := range min(step, len(now)) { // byte i of all pixels
			left, corner := 0, 0
			for k := i; k < len(now); k += step {
				up := int(above[k])
				now[k] += paeth(left, up, corner)
				left, corner = int(now[k]), up
			}
		}
	default:
		return fmt.Errorf("filter %d does not exist", filter)
	}
	return nil
}

// paeth returns that of left, up and corner which is nearest to left + up - corner.
func paeth(left, up, corner int) byte {
	toLeft, toUp := up-corner, left-corner
	toCorner := max(toLeft+toUp, -toLeft-toUp)
	toLeft, toUp = max(toLeft, -toLeft), max(toUp, -toUp)
	switch {
	case toLeft <= toUp && toLeft <= toCorner:
		return byte(left)
	case toUp <= toCorner:
		return byte(up)
	}
	return byte(corner)
}

// interlacedRows reads the seven passes and puts their pixels into place.
func (p *pngFile) interlacedRows(in io.Reader, all []byte) error {
	row, bits := p.bytesPerRow(p.width), p.channels()*p.depth
	now, above := make([]byte, 1+row), make([]byte, 1+row)
	for _, pass := range passes {
		width, height := (p.width-pass[0]+pass[2]-1)/pass[2], (p.height-pass[1]+pass[3]-1)/pass[3]
		if width <= 0 || height <= 0 {
			continue
		}
		n := p.bytesPerRow(width)
		clear(now)
		for y := range height {
			now, above = above, now
			if err := p.filtered(in, now[:1+n], above[1:1+n]); err != nil {
				return err
			}
			from, to := now[1:], all[(pass[1]+y*pass[3])*row:]
			for x := range width {
				at := pass[0] + x*pass[2]
				if bits >= 8 {
					copy(to[at*bits/8:], from[x*bits/8:(x+1)*bits/8])
				} else {
					to[at*bits/8] |= unpack(from, x, bits) << (8 - bits - at*bits%8)
				}
			}
		}
	}
	return nil
}

// unpack returns value i of a row of values of 1, 2, 4 or 8 bits.
func unpack(row []byte, i, bits int) byte {
	return row[i*bits/8] >> (8 - bits - i*bits%8) & byte(1<<bits-1)
}

// unpackRow sets out to the first values of a row of values of 1, 2, 4 or 8 bits.
func unpackRow(out, row []byte, bits int) {
	if bits == 8 {
		copy(out, row)
		return
	}
	n, mask := 8/bits, byte(1<<bits-1)
	for ; len(out) >= n; out, row = out[n:], row[1:] {
		v := row[0]
		for i := n - 1; i >= 0; i-- {
			out[i] = v & mask
			v >>= bits
		}
	}
	for i := range out {
		out[i] = unpack(row, i, bits)
	}
}

// rows converts packed pixels. Of 16 bits the upper 8 are kept.
func (p *pngRows) rows(mode Mode) rows {
	row, step := p.row, max(1, p.depth/8)
	pitch := p.channels() * step
	r := rows{height: p.height, width: p.width, channels: 3}
	switch p.kind {
	case pngGray, pngGrayAlpha:
		r.channels = 1
		if p.depth < 8 {
			scale := 255 / byte(1<<p.depth-1)
			r.write = func(y int, out []byte) {
				unpackRow(out, row(y), p.depth)
				for x := range out {
					out[x] *= scale
				}
			}
		} else {
			r.write, r.storage = func(y int, out []byte) { pick(out, row(y), pitch) }, p.all
		}
		switch {
		case mode == Color:
			return r.replicate()
		case mode == Unchanged && p.kind == pngGrayAlpha:
			return r.replicate().withAlpha(func(x, y int) byte { return row(y)[x*pitch+step] })
		}
		return r
	case pngPalette:
		indices := make([]byte, p.width)
		r.write = func(y int, out []byte) {
			unpackRow(indices, row(y), p.depth)
			for x, i := range indices {
				c := &p.palette[i]
				out[3*x], out[3*x+1], out[3*x+2] = c[2], c[1], c[0]
			}
		}
	default:
		r.write, r.storage = func(y int, out []byte) { swap(out, row(y), pitch, step) }, p.all
	}
	switch {
	case mode == Gray && p.depth == 16:
		return rows{height: p.height, width: p.width, channels: 1, write: p.space.deepGrey(row, pitch, p.significant), storage: p.all}
	case mode == Gray:
		return p.space.grey(r)
	case mode == Unchanged && p.hasAlpha():
		return r.withAlpha(p.alpha(row))
	}
	return r
}

// hasAlpha reports whether OpenCV gives a colour image an alpha channel.
func (p *pngFile) hasAlpha() bool { return p.kind == pngRGBAlpha || len(p.transparent) > 0 }

// alpha returns a function for the alpha of a pixel of a colour image of 8 bits or with a palette.
func (p *pngFile) alpha(row func(y int) []byte) func(x, y int) byte {
	switch p.kind {
	case pngRGBAlpha:
		return func(x, y int) byte { return row(y)[4*x+3] }
	case pngPalette:
		return func(x, y int) byte {
			if i := int(unpack(row(y), x, p.depth)); i < len(p.transparent) {
				return p.transparent[i]
			}
			return 255
		}
	}
	var key [6]byte
	copy(key[:], p.transparent)
	clear := [3]byte{key[1], key[3], key[5]}
	return func(x, y int) byte {
		if [3]byte(row(y)[3*x:]) == clear {
			return 0
		}
		return 255
	}
}

// pick takes every pitch-th byte.
func pick(out, in []byte, pitch int) {
	if pitch == 1 {
		copy(out, in)
		return
	}
	for i := range out {
		out[i] = in[i*pitch]
	}
}

// deep returns the 16-bit values of an image as R, G, B.
func (p *pngRows) deep() ([]uint16, error) {
	values := make([]uint16, 0, 3*p.width*p.height)
	pitch := 2 * p.channels()
	for y := range p.height {
		for in := p.row(y); len(in) > 0; in = in[pitch:] {
			for c := range 3 {
				if pitch < 6 {
					c = 0
				}
				values = append(values, binary.BigEndian.Uint16(in[2*c:]))
			}
		}
	}
	return values, p.end()
}
