package data

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/imageio"
)

// imagesAhead is the number of batches prepared ahead, the same as in Caffe.
const imagesAhead = 4

// files are the fields of a parameter that describes a list of image files.
type files interface {
	GetSource() string
	GetBatchSize() uint32
	GetRandSkip() uint32
	GetNewHeight() uint32
	GetNewWidth() uint32
	GetIsColor() bool
}

// checkFiles checks the parameter called name.
func checkFiles(name string, p files) error {
	switch {
	case p.GetBatchSize() == 0:
		return fmt.Errorf("%s: batch_size must be positive, it is 0", name)
	case p.GetSource() == "":
		return fmt.Errorf("%s: source is not set", name)
	case (p.GetNewHeight() > 0) != (p.GetNewWidth() > 0):
		return fmt.Errorf("%s: new_height %d and new_width %d must be set both or neither", name, p.GetNewHeight(), p.GetNewWidth())
	}
	return nil
}

// filesDecoder returns the decoder of the images. All images, grey ones too, have 3 channels unless is_color is false.
func filesDecoder(p files, seed uint64) data.ImageDecoder {
	mode := imageio.Color
	if !p.GetIsColor() {
		mode = imageio.Gray
	}
	return data.ImageDecoder{Height: int(p.GetNewHeight()), Width: int(p.GetNewWidth()), Mode: mode, Seed: seed}
}

// openFiles starts the prefetcher of a list's images. c has the decoder, the transformer and the seed.
func (l *batchLayer) openFiles(top []*blob.Blob, name string, p files, list *data.ImageList, c data.Config) error {
	if n := int(p.GetRandSkip()); n > list.Len() {
		return fmt.Errorf("%s: rand_skip %d is more than the %d images of %s", name, n, list.Len(), p.GetSource())
	}
	c.Source, c.BatchSize, c.Ahead, c.Skip = list, int(p.GetBatchSize()), imagesAhead, randomSkip(c.Seed, p.GetRandSkip())
	return l.open(top, c)
}

// randomSkip returns the number of images to skip at the start, less than limit.
func randomSkip(seed uint64, limit uint32) uint64 {
	if limit == 0 {
		return 0
	}
	return (seed >> 32) % uint64(limit)
}
