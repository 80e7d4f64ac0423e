package picture

import (
	"image"
	"image/color"
	"math"
)

// maxTiles limits the tiles of a picture.
const maxTiles = 64

// Tiles is a picture of many small ones in rows.
type Tiles struct {
	*image.NRGBA
	Shown, Of int // tiles in the picture, and all that there are
}

// NewTiles draws values of shape n x c x h x w. Three channels are blue, green and red, as in Caffe. Of other numbers each channel is a grey
// tile. Colours go from the lowest value to the highest of the shown tiles; values that are not finite are magenta. It returns nil if the
// shape has no images: fewer than 3 axes, or images of one pixel.
func NewTiles(values []float32, shape []int) *Tiles {
	if len(shape) == 3 {
		shape = []int{1, shape[0], shape[1], shape[2]}
	}
	if len(shape) != 4 || shape[2]*shape[3] <= 1 || len(values) == 0 {
		return nil
	}
	n, c, h, w := shape[0], shape[1], shape[2], shape[3]
	channels := 1
	if c == 3 {
		channels = 3
	}
	all := n * c / channels
	shown := min(all, maxTiles)
	values = values[:shown*channels*h*w]
	low, high := extremes(values)
	across := int(math.Ceil(math.Sqrt(float64(shown))))
	down := (shown + across - 1) / across
	t := &Tiles{image.NewNRGBA(image.Rect(0, 0, across*(w+1)-1, down*(h+1)-1)), shown, all}
	for k := range shown {
		tile := values[k*channels*h*w:]
		for y := range h {
			for x := range w {
				pixel := func(channel int) float32 { return tile[(channel*h+y)*w+x] }
				t.SetNRGBA(k%across*(w+1)+x, k/across*(h+1)+y, shade(pixel, channels, low, high))
			}
		}
	}
	return t
}

// extremes returns the lowest and the highest finite value.
func extremes(values []float32) (low, high float32) {
	low, high = math.MaxFloat32, -math.MaxFloat32
	for _, v := range values {
		if v >= -math.MaxFloat32 && v <= math.MaxFloat32 {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// shade returns a pixel's colour.
func shade(pixel func(channel int) float32, channels int, low, high float32) color.NRGBA {
	var level [3]uint8 // red, green, blue
	for i := range level {
		v := pixel(min(channels-1, 2-i))
		if !(v >= -math.MaxFloat32 && v <= math.MaxFloat32) {
			return color.NRGBA{255, 0, 255, 255}
		}
		if high > low {
			level[i] = uint8(math.Round(255 * (float64(v) - float64(low)) / (float64(high) - float64(low))))
		} else {
			level[i] = 128
		}
	}
	return color.NRGBA{level[0], level[1], level[2], 255}
}

// PNG returns the picture as a file.
func (t *Tiles) PNG() []byte { return PNG(t) }
