package data

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data/augment"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/regular"
)

// ImageList is a Source of image files listed in a text file, one "path label" a line. It keeps the order of the file, or
// shuffles it anew in each epoch. A record holds the image's name and label; the Decoder reads the image file.
type ImageList struct {
	items   []imageItem
	shuffle bool
	seed    uint64
	order   []int  // of the current epoch
	epoch   uint64 // the epoch that order belongs to
	item    uint64 // position in the stream
}

type imageItem struct {
	path  string
	label int
}

// OpenImageList reads the list in file and prepends root to each path, without adding a slash. A list without labels gives every
// image label 0, as in Caffe. The order of an epoch is a function of seed and epoch.
func OpenImageList(file, root string, shuffle bool, seed uint64) (*ImageList, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("image list: %w", err)
	}
	defer f.Close()
	s := &ImageList{shuffle: shuffle, seed: seed}
	var bare, labelled string // the last line without and with a label
	lines := bufio.NewScanner(f)
	read := 0
	for n := 1; lines.Scan(); n++ {
		read = n
		line := strings.TrimRight(lines.Text(), " \t\r")
		if line == "" {
			continue
		}
		path, label, err := cutLabel(line)
		if err != nil {
			return nil, fmt.Errorf("image list %s:%d: %w", file, n, err)
		}
		if path == line {
			bare = line
		} else {
			labelled = line
		}
		if bare != "" && labelled != "" {
			return nil, fmt.Errorf("image list %s:%d: %q has no label, %q has one: give all lines a label, or none", file, n, bare, labelled)
		}
		s.items = append(s.items, imageItem{root + path, label})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("image list %s: behind line %d: %w", file, read, err)
	}
	if len(s.items) == 0 {
		return nil, fmt.Errorf("image list %s is empty", file)
	}
	s.order = make([]int, len(s.items))
	s.arrange(0)
	return s, nil
}

// cutLabel cuts a line into a path and a label. A line without blanks is a path with label 0.
func cutLabel(line string) (path string, label int, err error) {
	blank := strings.LastIndexAny(line, " \t")
	if blank < 0 {
		return line, 0, nil
	}
	wide, err := strconv.ParseInt(line[blank+1:], 10, 32) // a Datum's label has 32 bits
	if err != nil {
		return "", 0, fmt.Errorf("%q is not a path, a space and an integer label of 32 bits", line)
	}
	return strings.TrimRight(line[:blank], " \t"), int(wide), nil
}

// Len returns the number of images.
func (s *ImageList) Len() int { return len(s.items) }

// arrange sets the order of the images for an epoch.
func (s *ImageList) arrange(epoch uint64) {
	s.epoch = epoch
	for i := range s.order {
		s.order[i] = i
	}
	if s.shuffle {
		r := rand.New(rand.NewPCG(s.seed, epoch))
		r.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
	}
}

// Next implements Source.
func (s *ImageList) Next(r *Record) error {
	n := uint64(len(s.items))
	if epoch := s.item / n; epoch != s.epoch {
		s.arrange(epoch)
	}
	it := s.items[s.order[s.item%n]]
	r.Name, r.Label = it.path, it.label
	s.item++
	return nil
}

// Seek implements Source.
func (s *ImageList) Seek(item uint64) error {
	s.item = item
	return nil
}

// Close implements Source.
func (s *ImageList) Close() error { return nil }

// ImageDecoder reads the image files that records name. It resizes them to Height x Width unless these are 0.
type ImageDecoder struct {
	Height, Width int
	Mode          imageio.Mode
	// Augmenter, if not nil, then resizes and damages the images. Seed is that of the prefetcher.
	Augmenter *augment.Augmenter
	Seed      uint64
}

// Decode implements Decoder.
func (d ImageDecoder) Decode(r *Record, _ *Scratch) (Pixels, int, error) {
	file, err := regular.ReadFile(r.Name)
	if err != nil {
		return Pixels{}, 0, err
	}
	var im *imageio.Image
	if d.Height > 0 && d.Width > 0 {
		im, _, err = imageio.DecodeResized(file, d.Mode, d.Height, d.Width)
	} else {
		im, err = imageio.Decode(file, d.Mode)
	}
	if err != nil {
		return Pixels{}, 0, err
	}
	if d.Augmenter == nil {
		return imagePixels(im), r.Label, nil
	}
	p, err := augmented(im, d.Augmenter, d.Seed, r.Item)
	return p, r.Label, err
}
