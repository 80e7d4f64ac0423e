package imageio

import (
	"errors"
	"fmt"
)

// converter returns the conversion of rows by libtiff's rules: 16-bit colours are rounded and
// 16-bit grey values cut off, colours are multiplied by alpha that stands apart, and grey ones are not.
func (t *tiffFile) converter() (conversion, error) {
	colours := t.samples - t.extra
	deep := t.bits == 16
	switch t.photometric {
	case whiteIsZero, blackIsZero:
		if t.bits == 1 && t.samples != 1 {
			break
		}
		if t.separate {
			return func(b *tiffBlock, y int, rgba []byte) { t.rgb(b, y, rgba, 1, deep) }, nil
		}
		return t.greys, nil
	case isPalette:
		if t.bits == 16 || t.separate || t.bits == 1 && t.samples != 1 {
			break
		}
		return t.lookUps, t.readPalette()
	case isRGB:
		if colours < 3 || t.bits == 1 {
			break
		}
		return func(b *tiffBlock, y int, rgba []byte) { t.rgb(b, y, rgba, 3, deep) }, nil
	case isSeparated:
		if t.number(tagInks, 1) != 1 || t.samples < 4 || t.bits != 8 || t.separate && t.samples != 4 {
			break
		}
		return t.cmyk, nil
	case isYCbCr:
		if t.bits != 8 || t.samples != 3 {
			break
		}
		if t.method == tiffJPEG && !t.separate {
			return func(b *tiffBlock, y int, rgba []byte) { t.rgb(b, y, rgba, 3, false) }, nil
		}
		if h, v := t.subsampled(); t.separate && h*v > 1 || h != 1 && h != 2 && h != 4 || v != 1 && v != 2 && v != 4 || h == 1 && v == 4 || v == 4 && h == 2 {
			break
		}
		return t.ycc(), nil
	case isLab:
		if t.bits != 8 || t.samples != 3 || t.separate {
			break
		}
		return t.lab()
	}
	return nil, fmt.Errorf("a TIFF image of kind %d with %d samples of %d bits, planes apart: %v. OpenCV does not read that either", t.photometric, t.samples, t.bits, t.separate)
}

// greys converts grey values. Alpha is not looked at. Of a tile that the image's right side cuts, libtiff 4.2 takes the rows after the first from
// where they would begin if the columns past the image were one byte each; that is wrong for pixels of more bytes, and the pixels are Caffe's.
func (t *tiffFile) greys(b *tiffBlock, y int, rgba []byte) {
	invert := byte(0)
	if t.photometric == whiteIsZero {
		invert = 255
	}
	pitch := t.samples * t.bits / 8
	row := b.used*pitch + b.width - b.used
	if t.bits == 1 {
		row = (b.width + 7) / 8
	}
	in := b.samples[y*row:]
	for x := range b.used {
		p := rgba[4*x:][:4]
		var v byte
		if t.bits == 1 {
			v = 255 * unpack(in, x, 1)
		} else {
			v = in[x*pitch]
		}
		v ^= invert
		p[0], p[1], p[2], p[3] = v, v, v, 255
	}
}

// readPalette reads the colours of a palette, of 16 bits unless all are below 256.
func (t *tiffFile) readPalette() error {
	all, n := t.tags[tagColours], 1<<t.bits
	if len(all) < 3*n {
		return errors.New("the TIFF image has no palette")
	}
	shift := 0
	for _, v := range all {
		if v >= 256 {
			shift = 8
		}
	}
	for i := range n {
		for c := range 3 {
			t.palette[i][c] = byte(int(all[c*n+i]) >> shift)
		}
	}
	return nil
}

func (t *tiffFile) lookUps(b *tiffBlock, y int, rgba []byte) {
	row := (b.width*t.bits*t.samples + 7) / 8
	in := b.samples[y*row:][:row]
	for x := range b.used {
		p := rgba[4*x:][:4]
		copy(p, t.palette[unpack(in, x*t.samples, t.bits)][:])
		p[3] = 255
	}
}

// rgb converts red, green and blue, or grey values that have a plane of their own.
func (t *tiffFile) rgb(b *tiffBlock, y int, rgba []byte, colours int, deep bool) {
	value := func(at int) byte {
		if deep {
			return byte((int(b.samples[2*at])<<8 + int(b.samples[2*at+1]) + 128) / 257)
		}
		return b.samples[at]
	}
	if t.samples == 3 && colours == 3 && !deep {
		in := b.samples[3*y*b.width:][:3*b.used]
		for i := 0; len(in) >= 3; i, in = i+4, in[3:] {
			p := rgba[i : i+4]
			p[0], p[1], p[2], p[3] = in[0], in[1], in[2], 255
		}
		return
	}
	for x := range b.used {
		p, at := rgba[4*x:][:4], (y*b.width+x)*t.samples
		for c := range 3 {
			p[c] = value(at + min(c, colours-1))
		}
		p[3] = 255
		if t.alpha > 0 && t.samples > colours {
			p[3] = value(at + colours)
		}
		if t.alpha == 2 {
			for c := range 3 {
				p[c] = byte((int(p[c])*int(p[3]) + 127) / 255)
			}
		}
	}
}

// cmyk converts cyan, magenta, yellow and black.
func (t *tiffFile) cmyk(b *tiffBlock, y int, rgba []byte) {
	for x := range b.used {
		in, out := b.samples[(y*b.width+x)*t.samples:][:4], rgba[4*x:][:4]
		k := 255 - int(in[3])
		for c := range 3 {
			out[c] = byte(k * (255 - int(in[c])) / 255)
		}
		out[3] = 255
	}
}

// lab returns the conversion of CIE L*a*b*, whose white is that of D50 if the file does not say.
func (t *tiffFile) lab() (conversion, error) {
	const x, y, z = 96.4250, 100.0, 82.4680
	white := t.floats(tagWhite, x/(x+y+z), y/(x+y+z))
	if white[1] == 0 {
		return nil, errors.New("a TIFF image of CIE L*a*b* colours without light in its white")
	}
	c := newCIELab(white[0], white[1])
	return func(b *tiffBlock, y int, rgba []byte) {
		for x := range b.used {
			in := b.samples[3*(y*b.width+x):][:3]
			c.pixel(rgba[4*x:][:4], in[0], int8(in[1]), int8(in[2]))
		}
	}, nil
}

// subsampled is how many pixels of a row and of a column share the colour of a YCbCr image.
func (t *tiffFile) subsampled() (h, v int) {
	if t.photometric != isYCbCr || t.method == tiffJPEG {
		return 1, 1
	}
	s := t.floats(tagSubsampling, 2, 2)
	return int(s[0]), int(s[1])
}

// ycc returns the conversion of YCbCr with libtiff's tables: CCIR 601 or the file's own weights and ranges, 16 bits behind the point.
func (t *tiffFile) ycc() conversion {
	luma := t.floats(tagLuma, .299, .587, .114)
	ref := t.floats(tagReference, 0, 255, 128, 255, 128, 255)
	fix := func(v float32) int32 { return int32(float64(max(0, min(v, 2)))*65536 + 0.5) }
	toRed, toBlue := 2-2*luma[0], 2-2*luma[2]
	d1, d2 := fix(toRed), -fix(luma[0]*toRed/luma[1])
	d3, d4 := fix(toBlue), -fix(luma[2]*toBlue/luma[1])
	value := func(code int, black, white, most float32) int32 {
		span := white - black
		if span == 0 {
			span = 1
		}
		return int32(max(-4096, min(float32(code-int(int32(black)))*most/span, 4096)))
	}
	var y, cr, cb [256]int32
	for i := range 256 {
		y[i] = value(i, ref[0], ref[1], 255)
		cb[i] = value(i-128, ref[2]-128, ref[3]-128, 127)
		cr[i] = value(i-128, ref[4]-128, ref[5]-128, 127)
	}
	pixel := func(out []byte, l, b, r byte) {
		const half = 1 << 15
		Y, B, R := y[l], cb[b], cr[r]
		out[0] = saturated(Y + (d1*R+half)>>16)
		out[1] = saturated(Y + (d4*B+half+d2*R)>>16)
		out[2] = saturated(Y + (d3*B+half)>>16)
		out[3] = 255
	}
	h, v := t.subsampled()
	return func(b *tiffBlock, row int, rgba []byte) {
		across, unit := (b.width+h-1)/h, h*v+2
		for x := range b.used {
			in := b.samples[(row/v*across+x/h)*unit:][:unit]
			pixel(rgba[4*x:], in[row%v*h+x%h], in[unit-2], in[unit-1])
		}
	}
}

func saturated(v int32) byte { return byte(max(0, min(v, 255))) }
