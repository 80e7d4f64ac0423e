package dataset

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/cli"
)

// classFiles are the files of each class, by its name.
type classFiles map[string][]string

// names lists the classes: numbers by value, if all are, else words in alphabetical order.
func (c classFiles) names() []string {
	names := slices.Sorted(maps.Keys(c))
	numbers := map[string]int{}
	for _, n := range names {
		if v, err := strconv.Atoi(n); err == nil {
			numbers[n] = v
		}
	}
	if len(numbers) == len(names) {
		slices.SortStableFunc(names, func(a, b string) int { return numbers[a] - numbers[b] })
	}
	return names
}

// listImages lists the files of a folder of classes or of a CSV file.
func listImages(e *cli.Env, path string) (classFiles, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return listFolder(e, path)
	}
	return listCSV(path)
}

// partNames are names of folders that hold a part of a set, not a class.
var partNames = []string{"train", "training", "val", "valid", "validation", "test", "testing"}

// listFolder lists the files below each folder in a folder. Hidden files and folders are left out.
func listFolder(e *cli.Env, root string) (classFiles, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	files, beside, parts := classFiles{}, 0, 0
	for _, entry := range entries {
		name, path := entry.Name(), filepath.Join(root, entry.Name())
		if strings.HasPrefix(name, ".") {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			beside++
			continue
		}
		if slices.Contains(partNames, strings.ToLower(name)) {
			parts++
		}
		if files[name], err = listClass(path); err != nil {
			return nil, err
		}
	}
	if parts > 1 && parts == len(files) {
		return nil, fmt.Errorf("%s: the folders %s look like parts of a set, not like classes; name the one to split into training and test images",
			root, strings.Join(files.names(), ", "))
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no folders; it needs one for each class, with its images", root)
	}
	if beside > 0 {
		e.Log.Warnf("Left out: %d files of %s beside the folders of its classes", beside, root)
	}
	return files, nil
}

// listClass lists the files below a class's folder, in alphabetical order.
func listClass(folder string) (files []string, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", folder, err)
		case strings.HasPrefix(d.Name(), ".") && path != ".":
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir():
			files = append(files, filepath.Join(folder, filepath.FromSlash(path)))
		}
		return nil
	})
	return files, err
}

// listCSV lists the files of a CSV file. Its first line may be a header.
func listCSV(path string) (classFiles, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	files, seen := classFiles{}, map[string]int{}
	for first := true; ; first = false {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		if len(row) != 2 {
			return nil, fmt.Errorf("%s:%d: %d fields; a line is the path of an image, a comma and the name of its class", path, line, len(row))
		}
		name, class := strings.TrimSpace(row[0]), strings.TrimSpace(row[1])
		if first && slices.Contains([]string{"file", "filename", "image", "path"}, strings.ToLower(name)) {
			continue
		}
		if name == "" || class == "" || strings.ContainsAny(class, "\r\n") {
			return nil, fmt.Errorf("%s:%d: %q, %q: a path or a class is missing, or has more than one line", path, line, name, class)
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
		}
		if before, twice := seen[name]; twice {
			return nil, fmt.Errorf("%s:%d: %s is on line %d already", path, line, name, before)
		}
		seen[name] = line
		files[class] = append(files[class], name)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no lines with an image and a class", path)
	}
	return files, nil
}

// imageFacts are an image's size and channels, or why it cannot be read.
type imageFacts struct {
	side, channels int // the shorter side
	err            error
}

// survey is the result of reading all images once.
type survey struct {
	classes    []string
	files      [][]string // the readable ones, by class
	side       int        // the median of the images' shorter sides
	gray       bool       // no image has colours
	unreadable int
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
	err = inOrder(len(all), sizesAhead, func(i int) imageFacts {
		im, err := imageio.Read(all[i].Name, imageio.Unchanged)
		if err != nil {
			return imageFacts{err: err}
		}
		return imageFacts{side: min(im.Height, im.Width), channels: im.Channels}
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
		s.files[all[i].Label] = append(s.files[all[i].Label], all[i].Name)
		sides = append(sides, f.side)
		s.gray = s.gray && f.channels == 1
		return nil
	})
	if err != nil {
		return nil, err
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
