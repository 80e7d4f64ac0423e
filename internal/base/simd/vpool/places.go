package vpool

// Packs reports whether there are kernels that pack the places of maxima: an output then has a byte, the place in its window, instead of an index
// in the plane.
func (p *Planes) Packs() bool {
	return have.PackPlaces != none && have.UnpackPlaces != none && p.shape.K <= 3
}

// PackPlaces writes the codes of the places that the outputs y of Max took. With relu, outputs that are not above 0 become 0 and get the code of
// no place; NaN stays.
func (p *Planes) PackPlaces(codes []uint8, index []int32, y []float32, relu bool) {
	s := &p.shape
	_, _, _ = codes[s.OH*s.OW-1], index[s.OH*s.OW-1], y[s.OH*s.OW-1]
	for row := range s.OH {
		at := row * s.OW
		have.PackPlaces.run(&codes[at], &index[at], &y[at], s.window(row), s.S, s.W, s.W-s.K, s.OW, relu)
	}
}

// UnpackPlaces writes the indices for codes, -1 for no place.
func (p *Planes) UnpackPlaces(index []int32, codes []uint8) {
	s := &p.shape
	_, _ = codes[s.OH*s.OW-1], index[s.OH*s.OW-1]
	for row := range s.OH {
		at := row * s.OW
		have.UnpackPlaces.run(&index[at], &codes[at], s.window(row), s.S, s.K, s.W-s.K, s.OW)
	}
}

// window is the index of the first input of the first window of a row; it may lie in the padding.
func (s *Shape) window(row int) int { return (row*s.S-s.Top)*s.W - s.Left }
