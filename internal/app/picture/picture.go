// Package picture draws the values of blobs as pictures: images as people see them, planes of weights and activations, and maps of classes.
//
// Everything that shows pictures takes them from here: the page of a run, the report of a test, TensorBoard's files.
//
//	picture.go  Image: an image of a batch; PNG
//	tiles.go    Tiles: many small pictures in rows, each value a shade
//	classes.go  Classes: a map of classes in PASCAL VOC's colours
package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
)

// Image draws an image of 1 channel (grey) or 3 (blue, green and red planes, as in Caffe). Values are 0 to 255; those outside are stretched to
// that range. It changes the values.
func Image(values []float32, channels, height, width int) image.Image {
	stretch(values)
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	for p := range height * width {
		c := color.RGBA{A: 255}
		for i, v := range []*uint8{&c.R, &c.G, &c.B} {
			plane := 0
			if channels == 3 {
				plane = 2 - i
			}
			*v = uint8(values[plane*height*width+p] + 0.5)
		}
		to.SetRGBA(p%width, p/width, c)
	}
	return to
}

// stretch maps values to 0..255. It leaves values alone that are there up to rounding.
func stretch(values []float32) {
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for i, v := range values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			values[i], v = 0, 0
		}
		low, high = min(low, v), max(high, v)
	}
	if low > -1 && high < 256 && high > 1 || low == high {
		low, high = 0, 255
	}
	for i, v := range values {
		values[i] = min(255, max(0, (v-low)*255/(high-low)))
	}
}

// PNG returns a picture as a file.
func PNG(im image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		panic("picture: " + err.Error()) // memory takes every picture
	}
	return b.Bytes()
}
