// Package annotation describes the objects in an image: an Object has a class, a box and a number. Detection nets such as SSD learn
// from them.
//
// A Reader reads the annotation file of an image, in one of the three forms of SSD's convert_annoset: XML as in PASCAL VOC, JSON as in
// MS COCO with a file for each image, or lines of text. A Picture writes the same forms. In databases the objects are part of an
// AnnotatedDatum.
//
// Boxes are normalised, and computed in float32 as in SSD.
package annotation

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/base/box"
)

// Object is one object of an image. Instance numbers the objects of one class in an image from 0. Detectors need not find a Difficult
// object.
type Object struct {
	Label, Instance int
	Box             box.Box
	Difficult       bool
}

// Format is the form of an annotation file.
type Format string

const (
	XML  Format = "xml"  // PASCAL VOC's
	JSON Format = "json" // MS COCO's, a file for each image
	Text Format = "txt"  // lines of "label xmin ymin xmax ymax", in pixels
)

// Formats lists the forms of annotation files.
var Formats = []Format{XML, JSON, Text}

// Size is the size of an image in pixels.
type Size struct{ Height, Width int }

// Result is the content of an annotation file. The objects are ordered by class, the classes by their first objects, as in a database of
// SSD. Warnings name the file, and the line if possible.
type Result struct {
	Objects  []Object
	Warnings []string
}

func (r *Result) warnf(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Corners are the corners of a box in pixels.
type Corners struct{ XMin, YMin, XMax, YMax float32 }

// Add appends an object behind those of its class, and numbers it. It warns of boxes outside the image and of boxes with corners in the wrong
// order, and keeps both, as SSD does.
func (r *Result) Add(where string, label int, c Corners, size Size, difficult bool) {
	w, h := float32(size.Width), float32(size.Height)
	if c.XMin > w || c.XMax > w || c.YMin > h || c.YMax > h || min(c.XMin, c.XMax, c.YMin, c.YMax) < 0 {
		r.warnf("%s: the box x %g to %g, y %g to %g exceeds the image of width %d and height %d", where, c.XMin, c.XMax, c.YMin, c.YMax, size.Width, size.Height)
	}
	if c.XMin > c.XMax || c.YMin > c.YMax {
		r.warnf("%s: the box x %g to %g, y %g to %g has its corners in the wrong order", where, c.XMin, c.XMax, c.YMin, c.YMax)
	}
	o := Object{Label: label, Box: box.Box{XMin: c.XMin / w, YMin: c.YMin / h, XMax: c.XMax / w, YMax: c.YMax / h}, Difficult: difficult}
	at := len(r.Objects)
	for i, other := range r.Objects {
		if other.Label == label {
			o.Instance = other.Instance + 1
			at = i + 1
		}
	}
	r.Objects = append(r.Objects, Object{})
	copy(r.Objects[at+1:], r.Objects[at:])
	r.Objects[at] = o
}

// imageSize returns the size that an annotation file states, or the image's own size where it states none. It warns of a difference.
func (r *Result) imageSize(name string, stated *Size, own Size) (Size, error) {
	if stated == nil {
		r.warnf("%s: the image's size is missing; height %d and width %d are the image file's", name, own.Height, own.Width)
		return own, nil
	}
	if stated.Height <= 0 || stated.Width <= 0 {
		return Size{}, fmt.Errorf("%s: the image's height %d and width %d must be positive", name, stated.Height, stated.Width)
	}
	if *stated != own {
		r.warnf("%s: the image is said to have height %d and width %d, its file has height %d and width %d", name, stated.Height, stated.Width, own.Height, own.Width)
	}
	return *stated, nil
}
