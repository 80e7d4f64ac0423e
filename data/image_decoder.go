package data

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/data/augment"
	"github.com/swcaffe/swcaffe/data/imageio"
)

// ImageDecoder reads the image files that records name. It resizes them to Height x Width unless these are 0.
type ImageDecoder struct {
	Height, Width int
	Mode          imageio.Mode
	// Augmenter, if not nil, then resizes and damages the images. Seed is that of the prefetcher.
	Augmenter *augment.Augmenter
	Seed      uint64
}

// Decode implements Decoder.
func (d ImageDecoder) Decode(r *Record, s *Scratch) (Pixels, int, error) {
	im, err := d.read(r.Name, s)
	if err != nil {
		return Pixels{}, 0, err
	}
	r.Repaired = im.Repaired
	p, err := d.pixels(im, r.Item)
	return p, r.Label, err
}

// pixels returns the pixels of an image that has been resized, after the steps of the augmenter.
func (d ImageDecoder) pixels(im *imageio.Image, item uint64) (Pixels, error) {
	if d.Augmenter == nil {
		return imagePixels(im), nil
	}
	return augmented(im, d.Augmenter, d.Seed, item)
}

// read reads an image file and resizes the image.
func (d ImageDecoder) read(path string, s *Scratch) (*imageio.Image, error) {
	file, err := s.readFile(path)
	if err != nil {
		return nil, err
	}
	return d.decode(file)
}

// decode is read for the bytes of a file.
func (d ImageDecoder) decode(file []byte) (*imageio.Image, error) {
	if d.Height > 0 && d.Width > 0 {
		im, _, err := imageio.DecodeResized(file, d.Mode, d.Height, d.Width)
		return im, err
	}
	return imageio.Decode(file, d.Mode)
}

// PairDecoder reads the images and the images of labels that the records of OpenImagePairs name. Labels are grey values, which it resizes
// without mixing them, crops and mirrors like the image, and puts into the record.
type PairDecoder struct {
	ImageDecoder // without Augmenter; Seed is that of the prefetcher
	labels       Transformer
}

// NewPairDecoder returns a decoder whose labels follow the crops, mirrors and padding of a transformer. Where there is no label, in the padding
// and everywhere for images without labels, it is ignored.
func NewPairDecoder(d ImageDecoder, t *Transformer, ignored float32) PairDecoder {
	labels := Transformer{scale: 1, mirror: t.mirror, cropHeight: t.cropHeight, cropWidth: t.cropWidth, train: t.train, pads: t.pads, padding: ignored}
	return PairDecoder{d, labels}
}

// Decode implements Decoder.
func (d PairDecoder) Decode(r *Record, s *Scratch) (Pixels, int, error) {
	im, err := d.read(r.Name, s)
	if err != nil {
		return Pixels{}, 0, err
	}
	r.Size, r.Repaired = [2]int{im.Height, im.Width}, im.Repaired
	p := imagePixels(im)
	if r.LabelName == "" {
		shape, err := d.labels.Shape(p)
		r.Labels = slices.Repeat([]float32{d.labels.padding}, shape[1]*shape[2])
		return p, 0, err
	}
	return p, 0, d.label(r, im)
}

// label reads the labels of an image.
func (d PairDecoder) label(r *Record, im *imageio.Image) error {
	labels, err := imageio.Read(r.LabelName, imageio.Gray)
	if err != nil {
		return fmt.Errorf("labels: %w", err)
	}
	if labels.Repaired != "" {
		damage := fmt.Sprintf("its labels %s: %s", r.LabelName, labels.Repaired)
		if r.Repaired != "" {
			damage = r.Repaired + "; " + damage
		}
		r.Repaired = damage
	}
	if d.Height > 0 && d.Width > 0 {
		if labels, err = labels.ResizeWith(imageio.Nearest, d.Height, d.Width); err != nil {
			return fmt.Errorf("labels %s: %w", r.LabelName, err)
		}
	}
	if im.Height != labels.Height || im.Width != labels.Width {
		return fmt.Errorf("height %d and width %d differ from those of the labels %s, %d and %d (new_height and new_width make them agree)",
			im.Height, im.Width, r.LabelName, labels.Height, labels.Width)
	}
	p := imagePixels(labels)
	shape, err := d.labels.Shape(p)
	if err != nil {
		return err
	}
	n := shape[1] * shape[2]
	if cap(r.Labels) < n {
		r.Labels = make([]float32, n)
	}
	r.Labels = r.Labels[:n]
	return d.labels.Transform(r.Labels, shape, p, d.Seed, r.Item)
}
