package data

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data/regular"
)

// ImageList is a Source of image files listed in a text file, one "path label" or "path path-of-labels" a line. It keeps the order of the
// file, or shuffles it anew in each epoch. A record holds the image's name and its label or their name; the Decoder reads the files.
type ImageList struct {
	file    string
	items   []imageItem
	shuffle bool
	seed    uint64
	order   []int  // of the current epoch
	epoch   uint64 // the epoch that order belongs to
	item    uint64 // position in the stream
}

type imageItem struct {
	path   string
	label  int
	labels string // of OpenImagePairs: the path of the labels' image
	line   int    // of the list, from 1 on
}

// OpenImageList reads the list in file and prepends root to each path, without adding a slash. A list without labels gives every
// image label 0, as in Caffe. The order of an epoch is a function of seed and epoch.
func OpenImageList(file, root string, shuffle bool, seed uint64) (*ImageList, error) {
	var bare, labelled string // the last line without and with a label
	return openList(file, shuffle, seed, func(line string) ([]imageItem, error) {
		path, label, err := cutLabel(line)
		if err != nil {
			return nil, err
		}
		if path == line {
			bare = line
		} else {
			labelled = line
		}
		if bare != "" && labelled != "" {
			return nil, fmt.Errorf("%q has no label, %q has one: give all lines a label, or none", bare, labelled)
		}
		return []imageItem{{path: root + path, label: label}}, nil
	})
}

// OpenImagePairs reads a list of images and images of their labels, as SegNet has it: the paths of an image and of its labels by turns, with
// white space between them. A line has one pair or several. Paths may have blanks where only one way to cut the line gives files. root is prepended to all paths.
func OpenImagePairs(file, root string, shuffle bool, seed uint64) (*ImageList, error) {
	return openList(file, shuffle, seed, func(line string) (items []imageItem, err error) {
		paths := regular.Paths(root, line, 2)
		if len(paths)%2 != 0 {
			return nil, fmt.Errorf("%d paths, not pairs of an image and its labels: %q", len(paths), line)
		}
		for i := 0; i < len(paths); i += 2 {
			items = append(items, imageItem{path: root + paths[i], labels: root + paths[i+1]})
		}
		return items, nil
	})
}

// OpenImageNames reads a list of images without labels: the first path of each line (regular.Paths).
func OpenImageNames(file, root string, shuffle bool, seed uint64) (*ImageList, error) {
	return openList(file, shuffle, seed, func(line string) ([]imageItem, error) {
		return []imageItem{{path: root + regular.Paths(root, line, 1)[0]}}, nil
	})
}

// openList makes the items of each line that is not empty.
func openList(file string, shuffle bool, seed uint64, read func(line string) ([]imageItem, error)) (*ImageList, error) {
	f, err := regular.OpenText(file)
	if err != nil {
		return nil, fmt.Errorf("image list: %w", err)
	}
	defer f.Close()
	s := &ImageList{file: file, shuffle: shuffle, seed: seed}
	lines := bufio.NewScanner(f)
	last := 0
	for n := 1; lines.Scan(); n++ {
		last = n
		line := strings.TrimRight(lines.Text(), " \t\r")
		if line == "" {
			continue
		}
		items, err := read(line)
		if err != nil {
			return nil, fmt.Errorf("image list %s:%d: %w", file, n, err)
		}
		for i := range items {
			items[i].line = n
		}
		s.items = append(s.items, items...)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("image list %s: behind line %d: %w", file, last, err)
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
	r.Name, r.Label, r.LabelName, r.List, r.Line = it.path, it.label, it.labels, s.file, it.line
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
