package annotation

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/box"
	"google.golang.org/protobuf/proto"
)

var labels = map[string]int{"cat": 1, "dog": 2, "17": 3}

func name(label int) string { return [...]string{"", "cat", "dog", "17"}[label] }

// draw draws objects with corners at whole pixels, among them some outside the image.
func draw(r *rand.Rand, size Size) []Object {
	var to Result
	for range r.IntN(6) {
		x, y := r.IntN(size.Width)-1, r.IntN(size.Height)-1
		c := Corners{float32(x), float32(y), float32(x + r.IntN(size.Width)), float32(y + r.IntN(size.Height))}
		to.Add("", 1+r.IntN(3), c, size, r.IntN(4) == 0)
	}
	return to.Objects
}

// TestRoundTrip: files and records of random objects are read as the same objects, bit by bit.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 300 {
		size := Size{1 + r.IntN(400), 1 + r.IntN(400)}
		objects := draw(r, size)
		for _, format := range Formats {
			text, err := Picture{File: "a.png", Size: size, Objects: objects, Names: name}.Write(format)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Reader{Format: format, Labels: labels}.Parse("a", text, size)
			if err != nil {
				t.Fatalf("%s: %v\n%s", format, err, text)
			}
			want := slices.Clone(objects)
			for i := range want {
				want[i].Difficult = want[i].Difficult && format != Text
			}
			if !slices.Equal(got.Objects, want) {
				t.Fatalf("case %d, %s: %+v, want %+v\n%s", k, format, got.Objects, want, text)
			}
		}
		var back []Object
		for _, g := range Groups(objects) {
			raw, err := proto.Marshal(g)
			if err != nil {
				t.Fatal(err)
			}
			if back, err = AppendGroup(back, raw); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(back, objects) {
			t.Fatalf("records: %+v, want %+v", back, objects)
		}
	}
}

// TestAdd: objects of a class stay together and are numbered from 0.
func TestAdd(t *testing.T) {
	var r Result
	for _, label := range []int{5, 2, 5, 7, 2, 5} {
		r.Add("f", label, Corners{0, 0, 5, 10}, Size{10, 10}, false)
	}
	var got []string
	for _, o := range r.Objects {
		got = append(got, fmt.Sprintf("%d.%d", o.Label, o.Instance))
	}
	if want := "5.0 5.1 5.2 2.0 2.1 7.0"; strings.Join(got, " ") != want || len(r.Warnings) > 0 {
		t.Errorf("%v, want %s; %v", got, want, r.Warnings)
	}
	if b := r.Objects[0].Box; b != (box.Box{XMin: 0, YMin: 0, XMax: 0.5, YMax: 1}) {
		t.Errorf("box %v", b)
	}
	r.Add("f", 1, Corners{4, 0, 2, 10}, Size{10, 10}, false)
	r.Add("f", 1, Corners{-1, 0, 2, 10}, Size{10, 10}, false)
	if len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "wrong order") || !strings.Contains(r.Warnings[1], "exceeds the image of width 10 and height 10") {
		t.Errorf("%q", r.Warnings)
	}
}

const objectXML = "<annotation>\n<size><height>8</height><width>10</width></size>\n<object><name>cat</name>\n<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox></object>\n</annotation>"

// TestDamaged: errors name the file, and the line or the number of the annotation.
func TestDamaged(t *testing.T) {
	edit := func(old, new string) string { return strings.Replace(objectXML, old, new, 1) }
	for _, c := range []struct {
		format     Format
		text, want string
	}{
		{XML, "", "f: the file has no XML element"},
		{XML, "<a/>", "f:1: the root is <a>, not <annotation>"},
		{XML, edit("</name>", ""), "f:4: element <name> closed by </object>"},
		{XML, objectXML[:60], "f:2: unexpected EOF"},
		{XML, edit("cat", "cow"), `f:3: class "cow" is not in the label map of 3 names`},
		{XML, edit("<name>cat</name>", ""), "f:3: an object needs <name> and <bndbox>"},
		{XML, edit("<xmax>3</xmax>", ""), "f:4: the <bndbox> has no <xmax>"},
		{XML, edit(">3<", ">three<"), `f:4: xmax is "three", which is no coordinate`},
		{XML, edit(">3<", ">nan<"), `f:4: xmax is "nan", which is no coordinate`},
		{XML, edit(">8<", ">0<"), "f: the image's height 0 and width 10 must be positive"},
		{XML, edit(">8<", ">x<"), `f:2: height is "x"`},
		{XML, strings.Repeat("<a>", 100), "f:1: elements are nested more than 64 deep"},
		{JSON, "", "f:1: unexpected end of JSON input"},
		{JSON, "{\n\n]", "f:3: invalid character ']'"},
		{JSON, "{\n\"annotation\": 3}", "f:2: json: cannot unmarshal number"},
		{JSON, "{}", `f: the list "annotation" is missing`},
		{JSON, `{"annotation": [{"bbox": [1, 2, 3, 4]}]}`, "f: annotation 0: category_id is missing"},
		{JSON, `{"annotation": [{"category_id": 17, "bbox": [1, 2, 3, 4]}, {"category_id": 18, "bbox": [1, 2, 3, 4]}]}`, `f: annotation 1: class "18"`},
		{JSON, `{"annotation": [{"category_id": "cat", "bbox": [1, 2, 3]}]}`, "f: annotation 0: bbox has 3 numbers, not 4"},
		{JSON, `{"annotation": [{"category_id": "cat", "bbox": [1, 2, 3, 1e30]}]}`, "f: annotation 0: bbox has the number 1e+30"},
		{JSON, `{"image": {"height": -3, "width": 4}, "annotation": []}`, "height -1 and width 4 must be positive"},
		{Text, "1 2 3 4 5\n\n1 2 3 4\n", `f:3: "1 2 3 4" is not a label and a box`},
		{Text, "cat 2 3 4 5", `f:1: "cat" is not an integer label`},
		{Text, "1 2 3 4 inf", `f:1: ymax is "inf"`},
	} {
		_, err := Reader{Format: c.format, Labels: labels}.Parse("f", []byte(c.text), Size{8, 10})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: error %v, want %q", c.format, c.text, err, c.want)
		}
	}
	if _, err := (Reader{Format: Text}).Read(filepath.Join(t.TempDir(), "none.txt"), Size{1, 1}); err == nil || !strings.Contains(err.Error(), "none.txt") {
		t.Errorf("a missing file: %v", err)
	}
}

// TestSizes: boxes are relative to the size that the file states; a file without a size or with another than the image's gives a warning.
func TestSizes(t *testing.T) {
	for _, c := range []struct{ text, warning string }{
		{objectXML, "f: the image is said to have height 8 and width 10, its file has height 20 and width 20"},
		{strings.Replace(objectXML, "<height>8</height>", "", 1), "f: the image's size is missing; height 20 and width 20 are the image file's"},
	} {
		got, err := Reader{Format: XML, Labels: labels}.Parse("f", []byte(c.text), Size{20, 20})
		if err != nil || len(got.Warnings) != 1 || got.Warnings[0] != c.warning {
			t.Errorf("%v, %q, want %q", err, got.Warnings, c.warning)
		}
		if x := got.Objects[0].Box.XMax; x != float32(3)/10 && x != float32(3)/20 {
			t.Errorf("xmax %g", x)
		}
	}
}

func TestLabelMap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "has no item"}, {"item { name: 'a' }", "item 0 needs a name and a label"}, {"item { nam: 'a' }", "m.prototxt:1"},
		{"item { name: 'a' label: 1 } item { name: 'a' label: 2 }", `item 1 has the name "a", as has the class with label 1`},
	} {
		file := filepath.Join(t.TempDir(), "m.prototxt")
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := ReadLabelMap(file)
		if err == nil {
			_, err = m.Labels(true)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "m.prototxt") {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}

// FuzzParse: no text makes a reader panic, and what it reads can be written and read again with the same result.
func FuzzParse(f *testing.F) {
	f.Add([]byte(objectXML))
	f.Add([]byte(`{"image": {"height": 8, "width": 10}, "annotation": [{"category_id": "cat", "iscrowd": 1, "bbox": [1, 2, 3, 4]}]}`))
	f.Add([]byte("1 2 3 4 5\n3 0.5 0 1e3 -7"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, format := range Formats {
			size := Size{8, 10}
			got, err := Reader{Format: format, Labels: labels}.Parse("f", text, size)
			if err != nil {
				if !strings.HasPrefix(err.Error(), "f:") {
					t.Errorf("error %v does not name the file", err)
				}
				continue
			}
			var back []Object
			for _, g := range Groups(got.Objects) {
				raw, err := proto.Marshal(g)
				if err != nil {
					t.Fatal(err)
				}
				if back, err = AppendGroup(back, raw); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(back, got.Objects) {
				t.Errorf("records: %+v, want %+v", back, got.Objects)
			}
		}
	})
}

// FuzzGroup: no bytes make AppendGroup panic or return coordinates that are not finite.
func FuzzGroup(f *testing.F) {
	f.Add([]byte("\x08\x01\x12\x00"))
	f.Add([]byte("\x08\x01\x12\x07\x12\x05\x0d\x00\x00\xc0\x7f"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		objects, err := AppendGroup(nil, raw)
		for _, o := range objects {
			if b := o.Box; err == nil && b.XMin+b.YMin+b.XMax+b.YMax != b.XMin+b.YMin+b.XMax+b.YMax {
				t.Errorf("%+v", o)
			}
		}
	})
}
