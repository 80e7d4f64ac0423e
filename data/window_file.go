package data

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// windowReader reads Caffe's window files. They are words between white space:
//
//	# image_index
//	image_path (which may have blanks)
//	channels height width
//	num_windows
//	class_index overlap x1 y1 x2 y2, once a window
//
// and so on for every image. The indices count from 0.
type windowReader struct {
	words
	param *caffepb.WindowDataParameter
	list  *WindowList
}

func (r *windowReader) read() error {
	for {
		mark, ok := r.next()
		if !ok {
			break
		}
		if mark != "#" {
			return r.errorf("%q stands where an image should begin with #", mark)
		}
		if err := r.image(); err != nil {
			return err
		}
	}
	if len(r.list.images) == 0 {
		return fmt.Errorf("%s is empty", r.name)
	}
	return nil
}

func (r *windowReader) image() error {
	index, err := r.number("an image's index")
	if err != nil {
		return err
	}
	if index != len(r.list.images) {
		return r.errorf("image index %d where %d should be: images are numbered from 0", index, len(r.list.images))
	}
	path, ok := r.path(r.param.GetRootFolder())
	if !ok {
		return r.errorf("the file ends where the path of image %d should be", index)
	}
	im := windowImage{path: r.param.GetRootFolder() + path}
	channels, err := r.number("a number of channels")
	if err != nil {
		return err
	}
	if channels != 3 {
		return r.errorf("image %s is said to have %d channels, but windows are read as colour images of 3", im.path, channels)
	}
	if r.param.GetCacheImages() {
		if im.file, err = regular.ReadFile(im.path); err != nil {
			return r.errorf("%v", err)
		}
	}
	r.list.images = append(r.list.images, im)
	var n int
	for _, what := range []string{"an image's height", "an image's width", "a number of windows"} {
		if n, err = r.number(what); err != nil {
			return err
		}
	}
	for range n {
		if err := r.window(index); err != nil {
			return err
		}
	}
	return nil
}

// window reads a window and adds it to the foreground or background by its overlap. It drops windows between the two thresholds.
func (r *windowReader) window(image int) error {
	w := windowItem{image: image}
	var err error
	if w.label, err = r.number("a window's class"); err != nil {
		return err
	}
	w.line = r.line
	word, _ := r.next()
	overlap, err := strconv.ParseFloat(word, 32)
	if err != nil {
		return r.errorf("%q is not a window's overlap", word)
	}
	for _, to := range []*int{&w.x1, &w.y1, &w.x2, &w.y2} {
		if *to, err = r.number("a window's corner"); err != nil {
			return err
		}
	}
	switch l := r.list; {
	case float32(overlap) >= r.param.GetFgThreshold():
		if w.label <= 0 {
			return r.errorf("a foreground window (overlap %v) has class %d, which must be positive", overlap, w.label)
		}
		l.foreground = append(l.foreground, w)
	case float32(overlap) < r.param.GetBgThreshold():
		w.label = 0
		l.background = append(l.background, w)
	}
	return nil
}

// words cuts a file into words.
type words struct {
	name string
	rest []byte
	line int
}

// spaces separate words.
const spaces = " \t\r\n\v\f"

// skip skips white space.
func (w *words) skip() {
	for len(w.rest) > 0 && strings.IndexByte(spaces, w.rest[0]) >= 0 {
		if w.rest[0] == '\n' {
			w.line++
		}
		w.rest = w.rest[1:]
	}
}

// next returns the following word; ok is false at the end.
func (w *words) next() (word string, ok bool) {
	w.skip()
	end := bytes.IndexAny(w.rest, spaces)
	if end < 0 {
		end = len(w.rest)
	}
	word = string(w.rest[:end])
	w.rest = w.rest[end:]
	return word, word != ""
}

// path reads the path of a file below root. It is a word, or has blanks: then it ends where only numbers follow on its line. If a file's name ends in a blank
// and a number, the number is part of the path.
func (w *words) path(root string) (path string, ok bool) {
	w.skip()
	line, _, _ := bytes.Cut(w.rest, []byte("\n"))
	path = strings.TrimRight(string(line), spaces)
	all := strings.Fields(path)
	for ; len(all) > 1; all = all[:len(all)-1] {
		last := all[len(all)-1]
		_, noNumber := strconv.ParseInt(last, 10, 32)
		if _, noFile := os.Stat(root + path); noNumber != nil || noFile == nil {
			w.rest = w.rest[len(path):]
			return path, true
		}
		path = strings.TrimRight(strings.TrimSuffix(path, last), spaces)
	}
	return w.next()
}

// number reads an integer; what names it in errors.
func (w *words) number(what string) (int, error) {
	word, ok := w.next()
	if !ok {
		return 0, w.errorf("the file ends where %s should be", what)
	}
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil {
		return 0, w.errorf("%q is not %s", word, what)
	}
	return int(n), nil
}

func (w *words) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", w.name, w.line, fmt.Sprintf(format, args...))
}
