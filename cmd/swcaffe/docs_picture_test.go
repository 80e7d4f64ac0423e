package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// element is a part of a picture: what it is, its words, and where it lies.
type element struct {
	kind, style, text string
	places            []float64
}

// placeAttributes have the coordinates of elements.
var placeAttributes = map[string]bool{"d": true, "x": true, "y": true, "width": true, "height": true}

var decimal = regexp.MustCompile(`-?[0-9]*\.?[0-9]+(?:e-?[0-9]+)?`)

// parsePicture reads an SVG file.
func parsePicture(text []byte) ([]element, error) {
	var shapes []element
	d := xml.NewDecoder(strings.NewReader(string(text)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return shapes, nil
		}
		if err != nil {
			return nil, err
		}
		switch x := token.(type) {
		case xml.StartElement:
			s := element{kind: x.Name.Local}
			for _, a := range x.Attr {
				if a.Name.Local == "style" {
					s.style = a.Value
				}
				if placeAttributes[a.Name.Local] {
					for _, n := range decimal.FindAllString(a.Value, -1) {
						v, err := strconv.ParseFloat(n, 64)
						if err != nil {
							return nil, err
						}
						s.places = append(s.places, v)
					}
				}
			}
			shapes = append(shapes, s)
		case xml.CharData:
			if words := strings.TrimSpace(string(x)); words != "" && len(shapes) > 0 {
				shapes[len(shapes)-1].text += words
			}
		}
	}
}

// samePicture says where two pictures differ for somebody who looks at them: in their lines, points, colours and words, or by more than a
// hundredth of the larger side in where these lie.
func samePicture(a, b []byte) error {
	drawn, err := parsePicture(a)
	if err != nil {
		return err
	}
	have, err := parsePicture(b)
	if err != nil {
		return err
	}
	if len(drawn) != len(have) || len(drawn) == 0 {
		return fmt.Errorf("%d elements, was %d", len(drawn), len(have))
	}
	side := 0.0
	for _, v := range drawn[0].places { // of the svg element
		side = max(side, v)
	}
	for i, x := range drawn {
		y := have[i]
		if x.kind != y.kind || x.style != y.style || x.text != y.text || len(x.places) != len(y.places) {
			return fmt.Errorf("element %d is a %s of %d coordinates %q (%s), was a %s of %d, %q (%s)", i, x.kind, len(x.places), x.text, x.style,
				y.kind, len(y.places), y.text, y.style)
		}
		for k, v := range x.places {
			if !(math.Abs(v-y.places[k]) <= side/100) {
				return fmt.Errorf("element %d, a %s %q, is at %v, was at %v", i, x.kind, x.text, x.places, y.places)
			}
		}
	}
	return nil
}

// TestSamePicture: rounding is no difference; a point, a word, a colour or a place is.
func TestSamePicture(t *testing.T) {
	const picture = `<svg width="600pt" height="400pt"><path d="M1,2L300,40L5e1,6" style="stroke:#FF0000"/><text x="5" y="7">ring</text></svg>`
	for _, c := range []struct {
		from, to string
		same     bool
	}{
		{"300,40", "300.004,39.99", true},
		{"300,40", "320,40", false},
		{"L5e1,6", "", false},
		{"ring", "tree", false},
		{"FF0000", "00FF00", false},
		{`<text x="5" y="7">ring</text>`, "", false},
		{"</svg>", "", false},
	} {
		if err := samePicture([]byte(strings.Replace(picture, c.from, c.to, 1)), []byte(picture)); (err == nil) != c.same {
			t.Errorf("%q for %q: %v", c.to, c.from, err)
		}
	}
}
