package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"
)

// TestTiles: colours, their order, and the places of the tiles.
func TestTiles(t *testing.T) {
	nan := float32(math.NaN())
	// Two images of 3 channels, 1 x 2: blue, green, red planes.
	tiles := NewTiles([]float32{0, 10, 0, 0, 10, 0, 5, nan, 0, 0, 0, 0}, []int{2, 3, 1, 2})
	if tiles.Shown != 2 || tiles.Of != 2 || tiles.Bounds().Dx() != 5 || tiles.Bounds().Dy() != 1 {
		t.Fatalf("%d of %d tiles, %v", tiles.Shown, tiles.Of, tiles.Bounds())
	}
	picture, err := png.Decode(bytes.NewReader(tiles.PNG()))
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range []color.NRGBA{{255, 0, 0, 255}, {0, 0, 255, 255}, {}, {0, 0, 128, 255}, {255, 0, 255, 255}} {
		if got := color.NRGBAModel.Convert(picture.At(x, 0)); got != want {
			t.Errorf("pixel %d is %v, want %v", x, got, want)
		}
	}
	grey := NewTiles(make([]float32, 200*2*2), []int{100, 2, 2, 1})
	if grey.Shown != 64 || grey.Of != 200 || grey.Bounds().Dx() != 8*2-1 || grey.Bounds().Dy() != 8*3-1 || grey.NRGBAAt(0, 0).R != 128 {
		t.Errorf("%d of %d tiles, %v", grey.Shown, grey.Of, grey.Bounds())
	}
	for _, shape := range [][]int{{4}, {2, 2}, {4, 1, 1, 1}, {1, 1, 1, 2, 2}} {
		if tiles := NewTiles(make([]float32, 4), shape); tiles != nil {
			t.Errorf("shape %v is drawn", shape)
		}
	}
}

// colours lists a picture's pixels.
func colours(im image.Image) (list []color.NRGBA) {
	for p := range im.Bounds().Dx() * im.Bounds().Dy() {
		list = append(list, color.NRGBAModel.Convert(im.At(p%im.Bounds().Dx(), p/im.Bounds().Dx())).(color.NRGBA))
	}
	return list
}

// TestImage: the order of the planes, the stretching of values outside a byte, and values that are not numbers.
func TestImage(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		values   []float32
		channels int
		want     []color.NRGBA
	}{
		{[]float32{1, 2, 3, 4, 5, 255}, 3, []color.NRGBA{{5, 3, 1, 255}, {255, 4, 2, 255}}},
		{[]float32{7, 200}, 1, []color.NRGBA{{7, 7, 7, 255}, {200, 200, 200, 255}}},
		{[]float32{-10, 10}, 1, []color.NRGBA{{0, 0, 0, 255}, {255, 255, 255, 255}}},
		{[]float32{0, 1020}, 1, []color.NRGBA{{0, 0, 0, 255}, {255, 255, 255, 255}}},
		{[]float32{nan, 100}, 1, []color.NRGBA{{0, 0, 0, 255}, {100, 100, 100, 255}}},
	} {
		got := colours(Image(c.values, c.channels, 1, 2))
		if got[0] != c.want[0] || got[1] != c.want[1] {
			t.Errorf("%v are drawn as %v, want %v", c.values, got, c.want)
		}
	}
}

// TestClasses: the first colours of PASCAL VOC's map, from its development kit; a pixel without a label is white.
func TestClasses(t *testing.T) {
	got := colours(Classes([]int{0, 1, 2, 3, 4, 8, 15, 20, Unlabelled}, 3, 3))
	want := []color.NRGBA{{0, 0, 0, 255}, {128, 0, 0, 255}, {0, 128, 0, 255}, {128, 128, 0, 255}, {0, 0, 128, 255}, {64, 0, 0, 255}, {192, 128, 128, 255}, {0, 64, 128, 255}, {255, 255, 255, 255}}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("pixel %d is %v, want %v", i, got[i], want[i])
		}
	}
}
