package detect

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/layers/part"
)

// yoloAnchors are anchors in a grid of cells. An anchor has the channels x, y, w, h, object and one for each class.
type yoloAnchors struct {
	anchors [][2]float64 // width and height
	scale   float64      // the grid has W*scale x H*scale of their units
	size    [2]int       // height and width in cells
}

// box returns the centre and the sides that an anchor predicts in a cell. Channel c is x[c*stride].
func (g *yoloAnchors) box(x []float32, stride, anchor, cell int) (cx, cy, width, height float64) {
	at := func(c int) float64 { return float64(x[c*stride]) }
	h, w := float64(g.size[0]), float64(g.size[1])
	cx, cy = (float64(cell%g.size[1])+part.Logistic(at(0)))/w, (float64(cell/g.size[1])+part.Logistic(at(1)))/h
	return cx, cy, math.Exp(at(2)) * g.anchors[anchor][0] / (w * g.scale), math.Exp(at(3)) * g.anchors[anchor][1] / (h * g.scale)
}

// corners returns a box of a centre and sides.
func corners(cx, cy, width, height float64) box.Box {
	return box.Box{XMin: float32(cx - width/2), YMin: float32(cy - height/2), XMax: float32(cx + width/2), YMax: float32(cy + height/2)}
}

// yoloGrid is a bottom of a yoloOutput: the predictions of its anchors in a grid of cells.
type yoloGrid struct {
	*yoloOutput
	yoloAnchors
	first int // the first box

	made   [3]int // images, height and width for which the kernel is made
	cut    int    // cells of a tile
	kernel *stream.Units
	x      []float32
}

func (g *yoloGrid) cells() int { return g.size[0] * g.size[1] }

func (g *yoloGrid) reshape() {
	made := [3]int{g.images, g.size[0], g.size[1]}
	if g.MPE() || g.made == made {
		return
	}
	g.made = made
	m, name, values := g.Device.Machine, g.Param.GetType()+" boxes", 5+g.classes+g.width
	g.cut = max(1, min(g.cells(), stream.UnitLimit(m)/values, 256))
	units := g.images * len(g.anchors) * tiles(g.cells(), g.cut)
	g.kernel = stream.NewUnits(m, name, units, g.images*len(g.anchors)*g.cells()*values, g.tile)
}

// tile computes the boxes of an anchor of an image in a tile of cells.
func (g *yoloGrid) tile(w *stream.UnitWorker, unit int) {
	across, anchors, channels := tiles(g.cells(), g.cut), len(g.anchors), 5+g.classes
	first, plane := unit%across*g.cut, unit/across // plane: image and anchor
	n, image, anchor := min(g.cut, g.cells()-first), plane/anchors, plane%anchors
	x, stride := w.Load(stream.Rect(g.x, plane*channels*g.cells()+first, channels, g.cells(), n))
	rows, rowStride := w.Place(stream.Rect(g.rowData, (image*g.boxes+g.first+first*anchors+anchor)*g.width, n, anchors*g.width, g.width))
	w.Cost(n*(4*g.classes+12), n*(g.classes+5))
	for i := range n {
		if w.Values() {
			g.decode(rows[i*rowStride:][:g.width], x[i:], stride, anchor, first+i)
		}
	}
}

// run computes all boxes of the grid.
func (g *yoloGrid) run(x []float32) error {
	if g.x = x; g.kernel != nil {
		return g.kernel.Run()
	}
	anchors, cells, channels := len(g.anchors), g.cells(), 5+g.classes
	for plane := range g.images * anchors {
		for cell := range cells {
			box := plane/anchors*g.boxes + g.first + cell*anchors + plane%anchors
			g.decode(g.rowData[box*g.width:][:g.width], x[plane*channels*cells+cell:], cells, plane%anchors, cell)
		}
	}
	return nil
}

// decode writes the row of an anchor in a cell. Its channel c is x[c*stride].
func (g *yoloGrid) decode(row, x []float32, stride, anchor, cell int) {
	at := func(c int) float64 { return float64(x[c*stride]) }
	corners(g.box(x, stride, anchor, cell)).Put(row)
	object := part.Logistic(at(4))
	if !g.second {
		for c := range g.classes {
			row[4+c] = float32(object * part.Logistic(at(5+c)))
		}
		return
	}
	best, sum := 0, 0.0
	for c := range g.classes {
		if at(5+c) > at(5+best) {
			best = c
		}
	}
	for c := range g.classes {
		sum += math.Exp(at(5+c) - at(5+best))
	}
	row[4], row[5] = float32(object/sum), float32(best)
}
