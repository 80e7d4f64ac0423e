package data

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/augment"
	"github.com/swcaffe/swcaffe/data/imageio"
	"google.golang.org/protobuf/encoding/protowire"
)

// AnnotatedDecoder decodes records that hold a serialised AnnotatedDatum of SSD: an image with its objects. It applies the augmentation and puts
// the objects into the record, as they are in the transformed image. Transformer and Seed are those of the prefetcher. With Typed, a record
// that does not say that it holds boxes is an error.
type AnnotatedDecoder struct {
	Transformer *Transformer
	Augmenter   *augment.Augmenter
	Seed        uint64
	Typed       bool
}

// Annotated reports whether a record, a serialised AnnotatedDatum, says that it holds boxes, and their number.
func Annotated(r *Record) (typed bool, boxes int, err error) {
	var a annotatedDatum
	if err := a.unmarshal(r.Raw, nil); err != nil {
		return false, 0, itemError(r, 0, err)
	}
	return a.typed, len(a.objects), nil
}

// Decode implements Decoder.
func (d AnnotatedDecoder) Decode(r *Record, s *Scratch) (Pixels, int, error) {
	a := annotatedDatum{Datum: s.Datum}
	err := a.unmarshal(r.Raw, r.Objects[:0])
	s.Datum, r.Objects = a.Datum, a.objects
	if err != nil {
		return Pixels{}, 0, err
	}
	if d.Typed && !a.typed {
		return Pixels{}, 0, errors.New("the AnnotatedDatum has no type, unlike the first one: it holds no boxes (anno_type: BBOX makes it one of boxes)")
	}
	im, err := s.Datum.image(d.Transformer.Mode())
	if err != nil {
		return Pixels{}, 0, err
	}
	r.Repaired = s.Datum.Repaired
	objects, augmenter := a.objects, d.Augmenter.Of(d.Seed, r.Item)
	var size annotation.Size
	if im, objects, size, err = augmenter.Apply(im, objects, augment.NewDraws(d.Seed, r.Item)); err != nil {
		return Pixels{}, 0, err
	}
	p := imagePixels(im)
	if _, err := d.Transformer.Shape(p); err != nil {
		return Pixels{}, 0, err
	}
	r.Objects, err = augmenter.Finish(objects, size, d.Transformer.frame(p, d.Seed, r.Item), d.Transformer.mirrors(d.Seed, r.Item))
	return p, s.Datum.Label, err
}

// image returns the image of a datum that holds bytes.
func (d *Datum) image(mode imageio.Mode) (*imageio.Image, error) {
	if d.Encoded {
		im, err := imageio.DecodeItem(d.Data, mode)
		if err != nil {
			return nil, fmt.Errorf("encoded datum: %w", err)
		}
		d.Repaired = im.Repaired
		return im, nil
	}
	p, err := d.Pixels(mode)
	if err != nil {
		return nil, err
	}
	if p.Bytes == nil {
		return nil, errors.New("the datum holds floats; augmentation needs an image of bytes")
	}
	im := imageio.New(p.Height, p.Width, p.Channels)
	for c := range p.Channels {
		for i, v := range p.Bytes[c*p.StrideC:][:p.StrideC] {
			im.Pix[i*p.Channels+c] = v
		}
	}
	return im, nil
}

// annotatedDatum is a caffe.AnnotatedDatum.
type annotatedDatum struct {
	Datum
	typed   bool // it has the type BBOX, the only one
	objects []annotation.Object
}

// unmarshal reads a serialised AnnotatedDatum, appending its objects to those given. The datum aliases b.
func (a *annotatedDatum) unmarshal(b []byte, objects []annotation.Object) error {
	a.objects = objects
	datums := 0
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("not an AnnotatedDatum: %w", protowire.ParseError(n))
		}
		if num > protowire.MaxValidNumber {
			return fmt.Errorf("not an AnnotatedDatum: field number %d", num)
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return fmt.Errorf("not an AnnotatedDatum: field %d: %w", num, protowire.ParseError(n))
		}
		var err error
		switch {
		case num == 1 && typ == protowire.BytesType:
			value, _ := protowire.ConsumeBytes(b)
			datums++
			err = a.Datum.Unmarshal(value)
		case num == 2 && typ == protowire.VarintType:
			if v, _ := protowire.ConsumeVarint(b); int32(v) != 0 {
				return fmt.Errorf("the AnnotatedDatum is of the unknown type %d; BBOX is 0", int32(v))
			}
			a.typed = true
		case num == 3 && typ == protowire.BytesType:
			value, _ := protowire.ConsumeBytes(b)
			a.objects, err = annotation.AppendGroup(a.objects, value)
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	if datums != 1 {
		return fmt.Errorf("the AnnotatedDatum holds %d images, not 1 (a database of Datum records belongs into a Data layer)", datums)
	}
	return nil
}
