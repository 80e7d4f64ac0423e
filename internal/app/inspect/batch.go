package inspect

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/app/picture"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver/events"
)

// Limits of what a Batch shows.
const (
	maxItems  = 32
	maxLabels = 8 // values of an item in a top without images
)

// Batch is the current batch as the net sees it.
type Batch struct {
	Size  int    `json:"size"` // items in the batch
	Tops  []Top  `json:"tops"`
	Items []Item `json:"items"` // the first ones
	// Names are those of the classes, by label; nil: they are not known.
	Names []string `json:"names"`
}

// Top is a blob that data layers fill.
type Top struct {
	Name   string    `json:"name"`
	Shape  string    `json:"shape"`
	Values Histogram `json:"values"`
}

// Item is one input.
type Item struct {
	Pictures [][]byte `json:"pictures"` // PNGs, by top with images; each is scaled by its own range
	Labels   []Label  `json:"labels"`   // of the other tops
}

// Label is an item's part of a top without images.
type Label struct {
	Top    string          `json:"top"`
	Values []events.Number `json:"values"` // the first ones
}

// NewBatch describes the tops of a net's data layers.
func NewBatch(n *swnet.Net) (*Batch, error) {
	b := &Batch{}
	for i := range n.NumLayers() {
		if !isSource(n, i) {
			continue
		}
		for k, top := range n.Tops(i) {
			name := n.LayerParam(i).GetTop()[k]
			b.Tops = append(b.Tops, Top{name, top.ShapeString(), NewHistogram(top.Data())})
			b.add(name, top)
		}
	}
	if len(b.Tops) == 0 {
		return nil, fmt.Errorf("net %q has no data layer", n.Name())
	}
	return b, nil
}

// add adds a top's part of each item.
func (b *Batch) add(name string, top *blob.Blob) {
	if top.NumAxes() == 0 || top.Dim(0) == 0 {
		return
	}
	b.Size = max(b.Size, top.Dim(0))
	shown := min(top.Dim(0), maxItems)
	for len(b.Items) < shown {
		b.Items = append(b.Items, Item{})
	}
	size := top.CountFrom(1)
	for k := range shown {
		values, item := top.Data()[k*size:(k+1)*size], &b.Items[k]
		if top.NumAxes() == 4 {
			if t := picture.NewTiles(values, append([]int{1}, top.Shape()[1:]...)); t != nil {
				item.Pictures = append(item.Pictures, t.PNG())
				continue
			}
		}
		l := Label{Top: name}
		for _, v := range values[:min(size, maxLabels)] {
			l.Values = append(l.Values, events.Number(v))
		}
		item.Labels = append(item.Labels, l)
	}
}
