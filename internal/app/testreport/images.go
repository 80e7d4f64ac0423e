package testreport

import (
	"encoding/base64"
	"fmt"
	"image"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/internal/app/picture"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Picture is a PNG with a caption.
type Picture struct {
	Caption string `json:"caption"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	PNG     []byte `json:"png"`
}

// NewPicture encodes a picture.
func NewPicture(caption string, im image.Image) Picture {
	return Picture{caption, im.Bounds().Dx(), im.Bounds().Dy(), picture.PNG(im)}
}

// URL returns the picture as the address of an image.
func (p *Picture) URL() string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(p.PNG)
}

// images is a blob with the images of a batch, grey or B, G, R.
type images struct {
	blob      *blob.Blob
	transform *data.Transformer // what the data layer has done to them; nil: nothing
	names     layers.ItemNamer  // nil: they have none
}

// findImages returns the first top of shape items x (1 or 3) x height x width of a layer without bottoms, nil if there is none. Annotations have
// such a shape too; they are excluded by their blob's number.
func findImages(n *swnet.Net, annotations []int) (*images, error) {
	for i := range n.NumLayers() {
		if len(n.BottomIDs(i)) > 0 {
			continue
		}
		for k, b := range n.Tops(i) {
			if b.NumAxes() != 4 || b.Dim(1) != 1 && b.Dim(1) != 3 || b.Dim(2) < 2 || b.Dim(3) < 2 || slices.Contains(annotations, n.TopIDs(i)[k]) {
				continue
			}
			im := &images{blob: n.Blob(n.BlobNames()[n.TopIDs(i)[k]])}
			im.names, _ = n.Layer(i).(layers.ItemNamer)
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

// name returns the name of image k of the batch, "" if it has none.
func (im *images) name(k int) string {
	if im == nil || im.names == nil || k >= im.blob.Dim(0) {
		return ""
	}
	return im.names.ItemName(k)
}

// of returns image k of the batch, with mean and scale undone.
func (im *images) of(k int) []Picture {
	if im == nil || k >= im.blob.Dim(0) {
		return nil
	}
	channels, height, width := im.blob.Dim(1), im.blob.Dim(2), im.blob.Dim(3)
	n := channels * height * width
	values := append([]float32(nil), im.blob.Data()[k*n:(k+1)*n]...)
	if im.transform != nil {
		im.transform.Restore(values, [3]int{channels, height, width})
	}
	return []Picture{NewPicture("", picture.Image(values, channels, height, width))}
}
