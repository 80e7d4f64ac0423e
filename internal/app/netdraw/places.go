package netdraw

import "gonum.org/v1/plot/vg"

// Place is where a drawing has a layer: fractions of the drawing's width and height, from the upper left corner.
type Place struct {
	Layer  string  `json:"layer"`
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Places returns the places of all layers in the picture that Draw draws.
func (g *Graph) Places() []Place {
	l := g.layOut()
	across, down := l.width+2*margin, l.height+2*margin
	var list []Place
	for i, b := range g.boxes {
		width, height := g.size(b)
		left, top := l.centres[i].X-width/2+margin, down-(l.centres[i].Y+height/2+margin)
		for k, row := range g.lines(b) {
			h := rowHeight(row)
			list = append(list, Place{b.layers[k].GetName(), part(left, across), part(top, down), part(width, across), part(h, down)})
			top += h
		}
	}
	return list
}

func part(a, of vg.Length) float64 { return float64(a / of) }
