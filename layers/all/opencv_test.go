package all_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

// TestOpenCV compares layers of forks with what OpenCV 4.6 computes for the same prototxt. testdata/opencv.py made testdata/opencv.txt.
func TestOpenCV(t *testing.T) {
	text, err := os.ReadFile("testdata/opencv.txt")
	if err != nil {
		t.Fatal(err)
	}
	b := layertest.NewBench(t)
	var c layertest.Case
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "layer":
			c = layertest.Case{}
			c.Type, c.Param, _ = strings.Cut(rest, " ")
		case "in":
			shape, values := printed(t, rest)
			c.Bottoms = append(c.Bottoms, layertest.Given(values, shape...))
		case "out":
			shape, want := printed(t, rest)
			for _, engine := range layertest.Engines() {
				f := layertest.Build(t, b, engine, c)
				for i, w := range f.Layer.Params() {
					f.SetWeight(i, repeated(1, w.Count())...)
				}
				layertest.Equal(t, c.Type+" "+c.Param, f.Forward(t)[0], want, 2e-6)
				if got := f.Top[0].ShapeString(); got != blob.New(shape...).ShapeString() {
					t.Errorf("%s %s: shape %s, OpenCV's is %v", c.Type, c.Param, got, shape)
				}
			}
		default:
			t.Fatalf("line %q", line)
		}
	}
}

// repeated returns n times v.
func repeated(v float32, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = v
	}
	return values
}

// printed reads a shape and values.
func printed(t *testing.T, text string) (shape []int, values []float32) {
	words := strings.Fields(text)
	for _, d := range strings.Split(words[0], ",") {
		n, err := strconv.Atoi(d)
		if err != nil {
			t.Fatal(err)
		}
		shape = append(shape, n)
	}
	for _, w := range words[1:] {
		v, err := strconv.ParseFloat(w, 32)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, float32(v))
	}
	return shape, values
}
