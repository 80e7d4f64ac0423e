package predict

import (
	"fmt"
	"image"
	"image/draw"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/imageio"
)

// Item is an image that has become an item of a net's input.
type Item struct {
	Values        []float32 // channels x height x width of the input
	Height, Width int       // of the image, upright
	Repaired      string    // damage of the file that was passed over, "" without any
}

// Read makes an item of an image file, in any format that package imageio reads. Errors name the file.
func (m *Model) Read(path string) (*Item, error) {
	return m.item(func(dst []float32) (data.Picture, error) { return m.prepare.Read(dst, path) })
}

// Decode makes an item of the bytes of an image file.
func (m *Model) Decode(file []byte) (*Item, error) {
	return m.item(func(dst []float32) (data.Picture, error) { return m.prepare.Decode(dst, file) })
}

// Pixels makes an item of a decoded image, which stays as it is. Images for nets of 3 channels are B, G, R.
func (m *Model) Pixels(im *imageio.Image) (*Item, error) {
	return m.item(func(dst []float32) (data.Picture, error) {
		switch n := im.Height * im.Width * im.Channels; {
		case im.Height < 1 || im.Width < 1 || im.Channels < 1:
			return data.Picture{}, fmt.Errorf("the image has height %d, width %d and %d channels", im.Height, im.Width, im.Channels)
		case len(im.Pix) != n:
			return data.Picture{}, fmt.Errorf("the image of height %d, width %d and %d channels has %d bytes, not %d", im.Height, im.Width, im.Channels, len(im.Pix), n)
		case im.Channels != m.inputs[0].Shape[1]:
			return data.Picture{}, fmt.Errorf("the image has %d channels, the net's input %q has %d", im.Channels, m.inputs[0].Name, m.inputs[0].Shape[1])
		}
		return data.Picture{Height: im.Height, Width: im.Width, Repaired: im.Repaired}, m.prepare.Put(dst, im)
	})
}

// Image makes an item of an image of Go's. Its alpha is dropped, as from files. Its grey version for nets of 1 channel is that of OpenCV's cvtColor.
func (m *Model) Image(from image.Image) (*Item, error) {
	if m.noPrepare != nil {
		return nil, m.noPrepare
	}
	size := from.Bounds().Size()
	if size.X < 1 || size.Y < 1 {
		return nil, fmt.Errorf("the image has height %d and width %d", size.Y, size.X)
	}
	plain := image.NewNRGBA(image.Rectangle{Max: size})
	draw.Draw(plain, plain.Rect, from, from.Bounds().Min, draw.Src)
	im := imageio.New(size.Y, size.X, 3)
	for i := range size.X * size.Y {
		im.Pix[3*i], im.Pix[3*i+1], im.Pix[3*i+2] = plain.Pix[4*i+2], plain.Pix[4*i+1], plain.Pix[4*i]
	}
	if m.Mode() != imageio.Gray {
		return m.Pixels(im)
	}
	grey, luma := imageio.New(size.Y, size.X, 1), im.Luma()
	for i := range grey.Pix {
		grey.Pix[i] = luma.Pix[3*i]
	}
	return m.Pixels(grey)
}

// Mode is that in which images for Pixels are decoded.
func (m *Model) Mode() imageio.Mode {
	if m.prepare == nil {
		return imageio.Color
	}
	return m.prepare.Mode()
}

// item makes an item with put.
func (m *Model) item(put func(dst []float32) (data.Picture, error)) (*Item, error) {
	if m.noPrepare != nil {
		return nil, m.noPrepare
	}
	it := &Item{Values: make([]float32, m.itemSize())}
	picture, err := put(it.Values)
	if err != nil {
		return nil, err
	}
	it.Height, it.Width, it.Repaired = picture.Height, picture.Width, picture.Repaired
	return it, nil
}

// itemSize is the number of values of an item.
func (m *Model) itemSize() int {
	n := 1
	for _, d := range m.inputs[0].Shape[1:] {
		n *= d
	}
	return n
}
