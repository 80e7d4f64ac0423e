package picture

import (
	"image"
	"image/color"
)

// Unlabelled is the class of a pixel without a label.
const Unlabelled = -1

// Classes draws a map of classes, row by row. Its colours are those of PASCAL VOC; pixels without a label are white.
func Classes(classes []int, height, width int) image.Image {
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	for p, class := range classes {
		c := color.RGBA{255, 255, 255, 255}
		if class != Unlabelled {
			c = ClassColour(class)
		}
		to.SetRGBA(p%width, p/width, c)
	}
	return to
}

// ClassColour returns VOC's colour of a class: the bits of the class, three at a time, are the high bits of red, green and blue.
func ClassColour(class int) color.RGBA {
	c := color.RGBA{A: 255}
	for bit := 7; bit >= 0 && class > 0; bit-- {
		c.R |= uint8(class&1) << bit
		c.G |= uint8(class>>1&1) << bit
		c.B |= uint8(class>>2&1) << bit
		class >>= 3
	}
	return c
}
