package annotation

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"math"
	"strconv"
)

// Picture is an image file with its objects, for writing annotation files. Names maps labels to the names of classes.
type Picture struct {
	File    string
	Size    Size
	Objects []Object
	Names   func(label int) string
}

// pixels returns a box in pixels.
func (p Picture) pixels(b box.Box) (c Corners) {
	w, h := p.Size.Width, p.Size.Height
	return Corners{pixel(b.XMin, w), pixel(b.YMin, h), pixel(b.XMax, w), pixel(b.YMax, h)}
}

// pixel returns a coordinate in pixels. If a whole number of pixels is normalised to the same value, it is this number.
func pixel(v float32, size int) float32 {
	at := v * float32(size)
	if whole := float32(math.Round(float64(at))); whole/float32(size) == v {
		return whole
	}
	return at
}

func digits(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }

// Write returns the picture's annotation file.
func (p Picture) Write(f Format) ([]byte, error) {
	switch f {
	case XML:
		return p.xml()
	case JSON:
		return p.json()
	case Text:
		return p.text(), nil
	}
	panic(fmt.Sprintf("annotation: unknown format %q", f))
}

func (p Picture) xml() ([]byte, error) {
	type box struct {
		XMin string `xml:"xmin"`
		YMin string `xml:"ymin"`
		XMax string `xml:"xmax"`
		YMax string `xml:"ymax"`
	}
	type object struct {
		Name      string `xml:"name"`
		Difficult int    `xml:"difficult"`
		Box       box    `xml:"bndbox"`
	}
	type size struct {
		Width  int `xml:"width"`
		Height int `xml:"height"`
		Depth  int `xml:"depth"`
	}
	file := struct {
		XMLName xml.Name `xml:"annotation"`
		File    string   `xml:"filename"`
		Size    size     `xml:"size"`
		Objects []object `xml:"object"`
	}{File: p.File, Size: size{p.Size.Width, p.Size.Height, 3}}
	for _, o := range p.Objects {
		c := p.pixels(o.Box)
		file.Objects = append(file.Objects, object{p.Names(o.Label), flag(o.Difficult), box{digits(c.XMin), digits(c.YMin), digits(c.XMax), digits(c.YMax)}})
	}
	text, err := xml.MarshalIndent(file, "", "  ")
	return append(text, '\n'), err
}

func (p Picture) json() ([]byte, error) {
	type object struct {
		Category string     `json:"category_id"`
		Crowd    int        `json:"iscrowd"`
		Box      [4]float32 `json:"bbox"`
	}
	type image struct {
		File   string `json:"file_name"`
		Height int    `json:"height"`
		Width  int    `json:"width"`
	}
	file := struct {
		Image       image    `json:"image"`
		Annotations []object `json:"annotation"`
	}{image{p.File, p.Size.Height, p.Size.Width}, []object{}}
	for _, o := range p.Objects {
		c := p.pixels(o.Box)
		file.Annotations = append(file.Annotations, object{p.Names(o.Label), flag(o.Difficult), [4]float32{c.XMin, c.YMin, c.XMax - c.XMin, c.YMax - c.YMin}})
	}
	text, err := json.MarshalIndent(file, "", " ")
	return append(text, '\n'), err
}

// text cannot say that an object is difficult.
func (p Picture) text() []byte {
	var b bytes.Buffer
	for _, o := range p.Objects {
		c := p.pixels(o.Box)
		fmt.Fprintf(&b, "%d %s %s %s %s\n", o.Label, digits(c.XMin), digits(c.YMin), digits(c.XMax), digits(c.YMax))
	}
	return b.Bytes()
}

func flag(on bool) int {
	if on {
		return 1
	}
	return 0
}
