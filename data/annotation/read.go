package annotation

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data/regular"
)

// mostText limits the bytes of an annotation file, so that an endless device is an error.
const mostText = 1 << 26

// mostObjects limits the objects of an image.
const mostObjects = 1 << 13

// Reader reads annotation files of one format. Labels maps the names of classes to labels; text files hold labels and need no names.
type Reader struct {
	Format Format
	Labels map[string]int
}

// Read reads an annotation file. size is the size of its image. It is used where the file states no size.
func (r Reader) Read(file string, size Size) (Result, error) {
	text, err := regular.ReadText(file, mostText)
	if err != nil {
		return Result{}, err
	}
	return r.Parse(file, text, size)
}

// Parse reads the content of an annotation file; name stands for the file in errors.
func (r Reader) Parse(name string, text []byte, size Size) (Result, error) {
	if size.Height <= 0 || size.Width <= 0 {
		panic(fmt.Sprintf("annotation: an image of height %d and width %d", size.Height, size.Width))
	}
	var result Result
	var err error
	switch r.Format {
	case XML:
		err = r.parseXML(&result, name, text, size)
	case JSON:
		err = r.parseJSON(&result, name, text, size)
	case Text:
		err = parseText(&result, name, text, size)
	default:
		panic(fmt.Sprintf("annotation: unknown format %q", r.Format))
	}
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

// label returns the label of a class.
func (r Reader) label(where, name string) (int, error) {
	label, ok := r.Labels[name]
	if !ok {
		return 0, fmt.Errorf("%s: class %q is not in the label map of %d names", where, name, len(r.Labels))
	}
	return label, nil
}

// room fails if an image has too many objects.
func (r *Result) room(where string) error {
	if len(r.Objects) >= mostObjects {
		return fmt.Errorf("%s: more than %d objects", where, mostObjects)
	}
	return nil
}

// number reads a coordinate, a number of less than 32 bits.
func number(where, what, text string) (float32, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 32)
	if err != nil || !(math.Abs(v) <= math.MaxInt32) {
		return 0, fmt.Errorf("%s: %s is %q, which is no coordinate", where, what, text)
	}
	return float32(v), nil
}

// parseText reads lines of "label xmin ymin xmax ymax".
func parseText(r *Result, name string, text []byte, size Size) error {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		where := fmt.Sprintf("%s:%d", name, n)
		if len(words) != 5 {
			return fmt.Errorf("%s: %q is not a label and a box: label xmin ymin xmax ymax", where, strings.TrimSpace(line))
		}
		label, err := strconv.ParseInt(words[0], 10, 32)
		if err != nil {
			return fmt.Errorf("%s: %q is not an integer label of 32 bits", where, words[0])
		}
		var box [4]float32
		for i, what := range [...]string{"xmin", "ymin", "xmax", "ymax"} {
			if box[i], err = number(where, what, words[1+i]); err != nil {
				return err
			}
		}
		if err := r.room(where); err != nil {
			return err
		}
		r.Add(where, int(label), Corners{box[0], box[1], box[2], box[3]}, size, false)
	}
	return nil
}

// ParseFormat returns the format of a name.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats, f) {
		return f, nil
	}
	return "", fmt.Errorf("unknown form of annotations %q (known: xml, json, txt)", name)
}
