package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// imageFacts says how an image is read, or why it cannot be.
type imageFacts struct {
	*imageio.Facts
	sum pixelSum
	err error
}

// readFacts reads an image as convert_imageset does.
func (o *initOptions) readFacts(name string) imageFacts {
	im, f, err := imageio.ReadDescribed(name, imageio.Color)
	if err != nil {
		return imageFacts{err: err}
	}
	defer im.Recycle()
	if f.Repaired != "" && o.strict {
		return imageFacts{err: fmt.Errorf("%s: the image is damaged: %s", name, f.Repaired)}
	}
	return imageFacts{Facts: f, sum: sumOf(im)}
}

// survey is the result of reading all images once.
type survey struct {
	classes    []string
	files      [][]string // the readable ones, by class
	side       int        // the median of the images' shorter sides
	gray       bool       // no image has colours
	unreadable int
	// Files left out since they show the same picture as another one: of the same class, and of different classes.
	copies, contradictory int
}

// surveyImages reads every image once. It names and counts those that cannot be read, and fails if too few are left.
func (o *initOptions) surveyImages(e *cli.Env) (*survey, error) {
	files, err := listImages(e, o.images)
	if err != nil {
		return nil, err
	}
	s := &survey{classes: files.names(), gray: true}
	if len(s.classes) < 2 {
		return nil, fmt.Errorf("%s has one class, %s; a net needs at least two to tell apart", o.images, s.classes[0])
	}
	var all []data.Record
	for label, class := range s.classes {
		if strings.ContainsAny(class, "\r\n") {
			return nil, fmt.Errorf("%s: the name of class %q has more than one line", o.images, class)
		}
		for _, name := range files[class] {
			all = append(all, data.Record{Name: name, Label: label})
		}
	}
	s.files = make([][]string, len(s.classes))
	e.Log.Infof("Reading %d files of %d classes", len(all), len(s.classes))
	bar := cli.NewProgress(e.Stderr, len(all), "images")
	defer bar.Finish()
	var sides []int
	var read []data.Record
	var sums []pixelSum
	deep := 0
	err = inOrder(len(all), sizesAhead, func(i int) imageFacts {
		return o.readFacts(all[i].Name)
	}, func(i int, f imageFacts) error {
		bar.Add(1)
		if o.interrupted.Err() != nil {
			return o.interrupted.Err()
		}
		if f.err != nil {
			e.Log.Warnf("Left out: %v", f.err)
			s.unreadable++
			return nil
		}
		read, sums = append(read, all[i]), append(sums, f.sum)
		sides = append(sides, min(f.Height, f.Width))
		s.gray = s.gray && f.Gray()
		if f.Bits == 16 {
			deep++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if deep > 0 {
		e.Log.Infof("%d images of 16 bits are rounded to 8, as convert_imageset does", deep)
	}
	for _, im := range s.withoutCopies(e, read, sums) {
		s.files[im.Label] = append(s.files[im.Label], im.Name)
	}
	if err := s.enough(o.images); err != nil {
		return nil, err
	}
	slices.Sort(sides)
	s.side = sides[len(sides)/2]
	return s, nil
}

// enough returns an error if a class has less than two images: one to train on, and one to test.
func (s *survey) enough(source string) error {
	why := ""
	if s.unreadable > 0 {
		why = fmt.Sprintf("; %d files could not be read as images", s.unreadable)
	}
	if n := s.copies + s.contradictory; n > 0 {
		why += fmt.Sprintf("; %d files show the same pictures as others", n)
	}
	for label, files := range s.files {
		if len(files) < 2 {
			return fmt.Errorf("%s: class %s has too few images, %d; training and testing need at least 2 of each class%s", source, s.classes[label], len(files), why)
		}
	}
	return nil
}

// split divides each class's images into training and test images, and shuffles both parts. The result depends on the seed, and on the
// images' names and order.
func (s *survey) split(testShare float64, seed uint64) (train, test []data.Record) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for label, files := range s.files {
		files = slices.Clone(files)
		rng.Shuffle(len(files), func(i, k int) { files[i], files[k] = files[k], files[i] })
		tests := min(len(files)-1, max(1, int(testShare*float64(len(files))+0.5)))
		for i, name := range files {
			r := data.Record{Name: name, Label: label}
			if i < tests {
				test = append(test, r)
			} else {
				train = append(train, r)
			}
		}
	}
	for _, part := range [][]data.Record{train, test} {
		rng.Shuffle(len(part), func(i, k int) { part[i], part[k] = part[k], part[i] })
	}
	return train, test
}
