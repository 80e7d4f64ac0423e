package im2col

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Columns writes the columns of a batch of images of one channel, and adds columns back to images, in main memory. Column n*offsets + k, of
// image n and kernel offset k, has a value for every output position.
type Columns struct {
	machine        *cpe.Machine
	geo            *Geometry
	images         int
	back           bool
	columns, image []float32
}

// NewColumns plans the columns of s.N images. It returns nil for a machine with DMA, on which lines are copied one by one.
func NewColumns(m *cpe.Machine, s shape.Conv) *Columns {
	if m.HasDMA() {
		return nil
	}
	return &Columns{machine: m, geo: NewGeometry(s), images: s.N}
}

// Name returns "columns".
func (c *Columns) Name() string { return "columns" }

// Spread writes the columns of images.
func (c *Columns) Spread(columns, image []float32) error { return c.run(columns, image, false) }

// Fold sets each value of images to the sum of the column values that Spread would copy it to, in the order of the offsets.
func (c *Columns) Fold(image, columns []float32) error { return c.run(columns, image, true) }

func (c *Columns) run(columns, image []float32, back bool) error {
	c.columns, c.image, c.back = columns, image, back
	return c.machine.Run(c, c.machine.GroupsFor(len(columns), tiling.HostTile))
}

// RunGroup computes a core group's share of the images.
func (c *Columns) RunGroup(g *cpe.CoreGroup) error {
	of := c.geo.Space() * c.geo.Positions()
	lo, hi := g.Share(c.images)
	for n := lo; n < hi; n++ {
		b := Band{Rows: c.geo.Rows, X: c.image[n*c.geo.Plane : (n+1)*c.geo.Plane]}
		columns := c.columns[n*of : (n+1)*of]
		var err error
		if c.back {
			err = c.geo.Fold(g, columns, &b, true)
		} else {
			err = c.geo.Spread(g, columns, &b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
