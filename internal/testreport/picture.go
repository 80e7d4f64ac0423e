package testreport

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// picture is a PNG with a caption.
type picture struct {
	Caption       string
	Width, Height int
	URL           template.URL
}

// images is a blob with the images of a batch, grey or B, G, R.
type images struct {
	blob      *blob.Blob
	transform *data.Transformer // what the data layer has done to them; nil: nothing
}

// findImages returns the first top of shape items x (1 or 3) x height x width of a layer without bottoms, nil if there is none.
func findImages(n *swnet.Net) (*images, error) {
	for i := range n.NumLayers() {
		if len(n.BottomIDs(i)) > 0 {
			continue
		}
		for k, b := range n.Tops(i) {
			if b.NumAxes() != 4 || b.Dim(1) != 1 && b.Dim(1) != 3 || b.Dim(2) < 2 || b.Dim(3) < 2 {
				continue
			}
			im := &images{blob: n.Blob(n.BlobNames()[n.TopIDs(i)[k]])}
			p := n.LayerParam(i).GetTransformParam()
			if p == nil {
				return im, nil
			}
			var err error
			if im.transform, err = data.NewImageTransformer(p, caffepb.Phase_TEST); err != nil {
				return nil, fmt.Errorf("layer %q: %w", n.LayerName(i), err)
			}
			return im, nil
		}
	}
	return nil, nil
}

// of returns image k of the batch, with mean and scale undone. Values outside a byte's range are stretched to it.
func (im *images) of(k int) []picture {
	if im == nil || k >= im.blob.Dim(0) {
		return nil
	}
	channels, height, width := im.blob.Dim(1), im.blob.Dim(2), im.blob.Dim(3)
	n := channels * height * width
	values := append([]float32(nil), im.blob.Data()[k*n:(k+1)*n]...)
	if im.transform != nil {
		im.transform.Restore(values, [3]int{channels, height, width})
	}
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
	return []picture{encoded("", to)}
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

// ignoredPixel is a pixel without a label.
const ignoredPixel = -1

// labelMap returns a picture of classes. Its colours are those of PASCAL VOC; ignored pixels are white.
func labelMap(caption string, classes []int, height, width int) picture {
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	for p, class := range classes {
		c := color.RGBA{255, 255, 255, 255}
		if class != ignoredPixel {
			c = classColour(class)
		}
		to.SetRGBA(p%width, p/width, c)
	}
	return encoded(caption, to)
}

// classColour returns VOC's colour of a class: the bits of the class, three at a time, are the high bits of red, green and blue.
func classColour(class int) color.RGBA {
	c := color.RGBA{A: 255}
	for bit := 7; bit >= 0 && class > 0; bit-- {
		c.R |= uint8(class&1) << bit
		c.G |= uint8(class>>1&1) << bit
		c.B |= uint8(class>>2&1) << bit
		class >>= 3
	}
	return c
}

func encoded(caption string, im image.Image) picture {
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		panic("testreport: " + err.Error()) // memory takes every picture
	}
	url := template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))
	return picture{caption, im.Bounds().Dx(), im.Bounds().Dy(), url}
}
