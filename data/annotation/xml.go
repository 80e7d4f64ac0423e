package annotation

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// element is an XML element with the line on which it begins.
type element struct {
	name string
	line int
	text string
	kids []*element
}

// kid returns the first child of a name, nil if there is none.
func (e *element) kid(name string) *element {
	if e == nil {
		return nil
	}
	for _, k := range e.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

// deepest is the greatest depth of nested elements.
const deepest = 64

// parseElements reads an XML file and returns its root.
func parseElements(name string, text []byte) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	open := []*element{{}}
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		if errors.Is(err, io.EOF) {
			break
		}
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s:%d: %s", name, syntax.Line, syntax.Msg)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		last := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) > deepest {
				return nil, fmt.Errorf("%s:%d: elements are nested more than %d deep", name, line, deepest)
			}
			e := &element{name: t.Name.Local, line: line}
			last.kids = append(last.kids, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if last.text == "" {
				last.text = strings.TrimSpace(string(t))
			}
		}
	}
	if len(open[0].kids) == 0 {
		return nil, fmt.Errorf("%s: the file has no XML element", name)
	}
	return open[0].kids[0], nil
}

// parseXML reads an annotation of PASCAL VOC. Coordinates with a fraction keep it; SSD reads them as 0.
func (r Reader) parseXML(to *Result, name string, text []byte, own Size) error {
	root, err := parseElements(name, text)
	if err != nil {
		return err
	}
	if root.name != "annotation" {
		return fmt.Errorf("%s:%d: the root is <%s>, not <annotation>", name, root.line, root.name)
	}
	var stated *Size
	if s := root.kid("size"); s.kid("height") != nil && s.kid("width") != nil {
		stated = &Size{}
		for i, at := range [...]*int{&stated.Height, &stated.Width} {
			what := [...]string{"height", "width"}[i]
			e := s.kid(what)
			v, err := number(fmt.Sprintf("%s:%d", name, e.line), what, e.text)
			if err != nil {
				return err
			}
			*at = int(max(-1, min(v, math.MaxInt32)))
		}
	}
	size, err := to.imageSize(name, stated, own)
	if err != nil {
		return err
	}
	for _, o := range root.kids {
		if o.name != "object" {
			continue
		}
		if err := r.objectXML(to, name, o, size); err != nil {
			return err
		}
	}
	return nil
}

// objectXML reads an <object>.
func (r Reader) objectXML(to *Result, name string, o *element, size Size) error {
	where := fmt.Sprintf("%s:%d", name, o.line)
	class, box := o.kid("name"), o.kid("bndbox")
	if class == nil || box == nil {
		return fmt.Errorf("%s: an object needs <name> and <bndbox>", where)
	}
	label, err := r.label(fmt.Sprintf("%s:%d", name, class.line), class.text)
	if err != nil {
		return err
	}
	var values [4]float32
	for i, what := range [...]string{"xmin", "ymin", "xmax", "ymax"} {
		e := box.kid(what)
		if e == nil {
			return fmt.Errorf("%s:%d: the <bndbox> has no <%s>", name, box.line, what)
		}
		if values[i], err = number(fmt.Sprintf("%s:%d", name, e.line), what, e.text); err != nil {
			return err
		}
	}
	if err := to.room(where); err != nil {
		return err
	}
	difficult := o.kid("difficult")
	to.Add(where, label, Corners{values[0], values[1], values[2], values[3]}, size, difficult != nil && difficult.text == "1")
	return nil
}
