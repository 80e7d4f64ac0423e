package imageio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/swcaffe/swcaffe/internal/pages"
)

// passes are the parts of an interlaced image: the first column and row, and the steps to the next ones.
var passes = [7][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

// bytesPerRow is the size of a row of packed pixels.
func (p *pngFile) bytesPerRow(width int) int { return (width*p.channels()*p.depth + 7) / 8 }

// pixels returns the image's rows as the file packs them.
func (p *pngFile) pixels(file []byte) ([]byte, error) {
	row := p.bytesPerRow(p.width)
	if err := checkDensity(max(p.width, row/3), p.height, file); err != nil {
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
	all := make([]byte, p.height*row)
	if p.interlaced {
		err = p.interlacedRows(in, all)
	} else {
		err = p.filteredRows(in, all, p.width, p.height)
	}
	if err != nil {
		return nil, pngError(err)
	}
	// What follows the last row is passed over, but the checksum that ends the data must be right.
	if n, err := in.Read(make([]byte, 1)); n == 0 && err != nil && !errors.Is(err, io.EOF) {
		return nil, pngError(err)
	}
	return all, nil
}

func pngError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the PNG image's pixels end early")
	}
	return fmt.Errorf("the PNG image's pixels: %w", err)
}

// filteredRows reads rows of a width and undoes their filters.
func (p *pngFile) filteredRows(in io.Reader, all []byte, width, height int) error {
	row, step := p.bytesPerRow(width), max(1, p.channels()*p.depth/8)
	above := make([]byte, row)
	var filter [1]byte
	for y := range height {
		if _, err := io.ReadFull(in, filter[:]); err != nil {
			return err
		}
		now := all[y*row:][:row]
		if _, err := io.ReadFull(in, now); err != nil {
			return err
		}
		if err := unfilter(filter[0], now, above, step); err != nil {
			return err
		}
		above = now
	}
	return nil
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
	part := make([]byte, (p.height+1)/2*row+row)
	for _, pass := range passes {
		width, height := (p.width-pass[0]+pass[2]-1)/pass[2], (p.height-pass[1]+pass[3]-1)/pass[3]
		if width <= 0 || height <= 0 {
			continue
		}
		n := p.bytesPerRow(width)
		if err := p.filteredRows(in, part[:n*height], width, height); err != nil {
			return err
		}
		for y := range height {
			from, to := part[y*n:], all[(pass[1]+y*pass[3])*row:]
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
func (p *pngFile) rows(pixels []byte, mode Mode) rows {
	size, step := p.bytesPerRow(p.width), max(1, p.depth/8)
	pitch := p.channels() * step
	r := rows{height: p.height, width: p.width, channels: 3}
	row := func(y int) []byte { return pixels[y*size:][:size] }
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
			r.write, r.storage = func(y int, out []byte) { pick(out, row(y), pitch) }, pixels
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
		r.write, r.storage = func(y int, out []byte) { swap(out, row(y), pitch, step) }, pixels
	}
	switch {
	case mode == Gray && p.depth == 16:
		return rows{height: p.height, width: p.width, channels: 1, write: p.space.deepGrey(row, pitch, p.significant), storage: pixels}
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
func (p *pngFile) deep(pixels []byte) []uint16 {
	values := make([]uint16, 0, 3*p.width*p.height)
	pitch := 2 * p.channels()
	for at := 0; at < len(pixels); at += pitch {
		for c := range 3 {
			if pitch < 6 {
				c = 0
			}
			values = append(values, binary.BigEndian.Uint16(pixels[at+2*c:]))
		}
	}
	return values
}
