package dataset

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"path/filepath"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"google.golang.org/protobuf/encoding/protowire"
)

// convertedImage is an image as a database record, or the reason for leaving it out.
type convertedImage struct {
	name     string
	size     [3]int // channels, height, width
	value    []byte // a serialised Datum or AnnotatedDatum
	unusable error  // the file is not an image: skip it
	repaired string // damage of the file that was passed over
	warnings []string
	err      error
}

// annotate returns the end of a serialised AnnotatedDatum, behind the Datum, for the size of an image as its file has it.
type annotate func(size annotation.Size) (end []byte, warnings []string, err error)

// convert turns an image file into a record that is a Datum. Several goroutines call it; near is that of inOrderNear.
func (o *imagesetOptions) convert(r *data.Record, near func()) convertedImage {
	return o.record(r, nil, near)
}

// record turns an image file into a record: a Datum or, with annotate, an AnnotatedDatum.
func (o *imagesetOptions) record(r *data.Record, annotate annotate, near func()) convertedImage {
	file, err := o.memory.read(r.Name)
	if err != nil {
		return convertedImage{unusable: err}
	}
	defer o.memory.files.put(file)
	im, err := o.recordOf(r, file, annotate, near)
	if err != nil {
		return convertedImage{unusable: fmt.Errorf("%s: %w", r.Name, err)}
	}
	return im
}

// recordOf turns the content of an image file into a record. An error means that the file is not an image.
func (o *imagesetOptions) recordOf(r *data.Record, file []byte, annotate annotate, near func()) (im convertedImage, err error) {
	mode := imageio.Color
	if o.gray {
		mode = imageio.Gray
	}
	p, err := imageio.Open(file, mode)
	if err != nil {
		return im, err
	}
	height, width := p.Size()
	var end []byte
	if annotate != nil {
		end, im.warnings, im.err = annotate(annotation.Size{Height: height, Width: width})
	}
	p, resized, err := o.resize(p)
	if err != nil {
		return im, err
	}
	height, width = p.Size()
	n := p.Channels() * height * width
	if n > mostDatum {
		return im, fmt.Errorf("the image has %d bytes of pixels, a Datum holds %d", n, mostDatum)
	}
	if n >= largeRecord {
		o.memory.large()
		near()
	}
	im.name, im.size = r.Name, [3]int{p.Channels(), height, width}
	d := &data.Datum{Channels: p.Channels(), Height: height, Width: width, Label: r.Label, Encoded: o.encoded || o.encodeType != ""}
	framed := func(n int) (value, data []byte) { return o.memory.record(d, n, annotate != nil, end) }
	if !d.Encoded {
		var pixels []byte
		im.value, pixels = framed(n)
		im.repaired, err = p.Planes(pixels)
		return im, err
	}
	kind := kindOf(filepath.Ext(r.Name))
	encoded := file
	if !resized && !o.gray && (o.encodeType == "" || o.encodeType == kind) {
		if im.repaired, err = p.Pass(); err != nil {
			return im, err
		}
	} else {
		if o.encodeType != "" {
			kind = o.encodeType
		}
		pixels, err := p.Image()
		if err != nil {
			return im, err
		}
		im.repaired = pixels.Repaired
		if encoded, err = encode(pixels, kind); err != nil {
			return im, err
		}
		pixels.Recycle()
	}
	var content []byte
	im.value, content = framed(len(encoded))
	copy(content, encoded)
	return im, nil
}

// resize resizes an image if a size is set.
func (o *imagesetOptions) resize(p *imageio.Picture) (_ *imageio.Picture, resized bool, err error) {
	height, width := p.Size()
	switch {
	case o.minDim > 0 || o.maxDim > 0:
		return o.resizeWithin(p)
	case o.width == 0:
		return p, false, nil
	}
	return p, height != o.height || width != o.width, p.Resize(o.height, o.width)
}

// record returns a record with n bytes of data that are to be written, in memory of an earlier one. A Datum within an AnnotatedDatum is its field 1.
func (m *recordMemory) record(d *data.Datum, n int, annotated bool, end []byte) (value, data []byte) {
	head, tail := d.AppendHead(nil, n), d.AppendTail(nil)
	if annotated {
		size := len(head) + n + len(tail)
		head = append(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.BytesType), uint64(size)), head...)
		tail = append(tail, end...)
	}
	value = m.values.take(len(head) + n + len(tail))
	copy(value, head)
	copy(value[len(head)+n:], tail)
	return value, value[len(head):][:n]
}

// encode returns im as a file of the given kind.
func encode(im *imageio.Image, kind string) ([]byte, error) {
	var picture image.Image = &opaque{Image: im}
	if im.Channels == 1 {
		picture = &image.Gray{Pix: im.Pix, Stride: im.Width, Rect: image.Rect(0, 0, im.Width, im.Height)}
	}
	var b bytes.Buffer
	var err error
	if kind == "jpg" {
		err = jpeg.Encode(&b, picture, &jpeg.Options{Quality: 95})
	} else {
		err = png.Encode(&b, picture)
	}
	return b.Bytes(), err
}

// opaque is an image without alpha, for the encoders of Go's library. One goroutine uses it: a colour is valid until the next one.
type opaque struct {
	*imageio.Image
	pixel [3]byte // red, green, blue
}

func (o *opaque) ColorModel() color.Model { return color.RGBAModel }
func (o *opaque) Bounds() image.Rectangle { return image.Rect(0, 0, o.Width, o.Height) }
func (o *opaque) Opaque() bool            { return true }

// At implements image.Image.
func (o *opaque) At(x, y int) color.Color {
	p := o.Pix[(y*o.Width+x)*o.Channels:][:3]
	o.pixel = [3]byte{p[2], p[1], p[0]}
	return o
}

// RGBA implements color.Color.
func (o *opaque) RGBA() (r, g, b, a uint32) {
	return uint32(o.pixel[0]) * 257, uint32(o.pixel[1]) * 257, uint32(o.pixel[2]) * 257, 65535
}
