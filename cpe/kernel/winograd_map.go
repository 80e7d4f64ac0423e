package kernel

import "github.com/swcaffe/swcaffe/internal/simd"

// squares maps squares of images to points, a slice of channels of a patch at a time.
type squares struct {
	kind     simd.WinogradMap
	edge     int // of a square; neighbours are the edge of a tile apart
	padH     int // the first square begins so far before the image
	padW     int
	h, w     int           // of the image
	channels int           // to be mapped
	blocks   bool          // they lie in blocks
	image    int           // values from one image to the next
	pooled   *pooledSlices // what is read instead, if not nil: outputs' gradient
	fold     *imageFold    // of what is read, if not nil: it is not folded yet
}

// gradSquares map the images and the results' gradient of a convolution for its gradients.
func (c *Conv) gradSquares(form simd.WinogradForm) (images, results squares) {
	s := &c.shape
	out := s.OutSize()
	images = squares{
		kind: simd.WinogradInput, edge: form.Edge(), padH: s.Pad[0], padW: s.Pad[1],
		h: s.In[0], w: s.In[1], channels: s.C / s.Group, image: s.C * size(s.In), blocks: c.blocked[0],
	}.folding(c.fold)
	results = squares{
		kind: simd.WinogradOutputGrad, edge: form.Tile,
		h: out[0], w: out[1], channels: s.Out / s.Group, image: s.Out * size(out), blocks: c.blocked[1], pooled: c.pooled,
	}
	return images, results
}

// slices is the number of slices of the channels.
func (s *squares) slices() int { return blocks(s.channels, winogradLanes) }

// inside is the part of n positions from first on that lies inside a line of size positions, relative to first.
func inside(first, n, size int) (lo, hi int) {
	lo = min(n, max(0, -first))
	return lo, max(lo, min(n, size-first))
}

// folding are the squares of images that are not folded yet, if f is not nil.
func (s squares) folding(f *imageFold) squares {
	if s.fold = f; f != nil {
		s.image = f.image
	}
	return s
}

// of is the images from one of some groups of channels on.
func (s *squares) of(x []float32, group, groups int) []float32 {
	return from(x, group*(s.image/groups))
}

// read maps the squares of a patch for a slice of channels of the images x to points from tile at on.
func (s *squares) read(w *winogradWorker, g *tileGrid, p patch, slice int, x []float32, to *pointPlanes, at int) {
	if s.blocks || s.pooled != nil {
		s.readBlocks(w, g, p, slice, x, to, at)
		return
	}
	m, edge := g.form.Tile, g.form.Edge()
	lines, pitch := m*p.rows+s.edge-m, m*p.cols+s.edge-m
	y0, x0 := p.row*m-s.padH, p.col*m-s.padW
	pixels := w.pixels[:winogradLanes*lines*pitch]
	if s.fold == nil {
		s.turn(pixels, x[p.image*s.image:], slice, y0, x0, lines, pitch)
	} else {
		clear(pixels)
		rows, cols := span{y0, min(lines, s.h-y0)}, span{x0, min(pitch, s.w-x0)}
		s.fold.read(pixels, x[p.image*s.image:], nthSpan(slice, winogradLanes, s.channels), rows, cols, pitch)
	}
	made := to.at(at, slice, p.rows*p.cols)
	w.strides = simd.WinogradStrides{
		SrcRow: pitch * winogradLanes, SrcCol: winogradLanes, SrcNext: m * winogradLanes,
		DstRow: edge * made.PlaneStride, DstCol: made.PlaneStride, DstNext: made.RowStride,
	}
	for r := range p.rows {
		simd.Winograd(g.form, s.kind, made.Data[r*p.cols*made.RowStride:], pixels, r*m*pitch*winogradLanes, &w.strides, p.cols, nil, w.scratch)
	}
}

// turn brings a slice of channels of an image side by side in lines of pitch pixels, the first of which is (y0, x0), zeros where there are none.
func (s *squares) turn(pixels, image []float32, slice, y0, x0, lines, pitch int) {
	top, bottom := inside(y0, lines, s.h)
	left, right := inside(x0, pitch, s.w)
	lanes := min(winogradLanes, s.channels-slice*winogradLanes)
	plane := s.h * s.w
	var data []float32
	if bottom > top && right > left {
		data = image[slice*winogradLanes*plane+(y0+top)*s.w+x0+left:]
	}
	if lanes < winogradLanes {
		clear(pixels)
	}
	if right-left == pitch && s.w == pitch {
		clear(pixels[:top*pitch*winogradLanes])
		simd.Transpose(pixels[top*pitch*winogradLanes:], data, winogradLanes, plane, lanes, (bottom-top)*pitch)
		clear(pixels[bottom*pitch*winogradLanes : lines*pitch*winogradLanes])
		return
	}
	for y := range lines {
		line := pixels[y*pitch*winogradLanes : (y+1)*pitch*winogradLanes]
		if y < top || y >= bottom || left == right {
			clear(line)
			continue
		}
		clear(line[:left*winogradLanes])
		simd.Transpose(line[left*winogradLanes:], data[(y-top)*s.w:], winogradLanes, plane, lanes, right-left)
		clear(line[right*winogradLanes:])
	}
}

// tilesOut maps points back to tiles of outputs.
type tilesOut struct {
	h, w   int           // of an image of outputs
	image  int           // values from one image to the next
	blocks bool          // outputs lie in blocks of channels
	pooled *pooledSlices // what is written instead, if not nil
}

// write maps points from tile at on to the tiles of a patch of the worker's outputs, for the lanes channels of a slice.
func (o *tilesOut) write(w *winogradWorker, g *tileGrid, p patch, slice, lanes int, src *pointPlanes, at int) {
	if o.blocks || o.pooled != nil {
		o.writeBlocks(w, g, p, slice, lanes, src, at)
		return
	}
	m, edge := g.form.Tile, g.form.Edge()
	lines, pitch := min(m*p.rows, o.h-p.row*m), m*p.cols
	width := min(pitch, o.w-p.col*m)
	first, plane := slice*winogradLanes, o.h*o.w
	block := src.at(at, slice, p.rows*p.cols)
	pixels := w.pixels[:winogradLanes*m*p.rows*pitch]
	w.setBias(first, lanes)
	w.strides = simd.WinogradStrides{
		SrcRow: edge * block.PlaneStride, SrcCol: block.PlaneStride, SrcNext: block.RowStride,
		DstRow: pitch * winogradLanes, DstCol: winogradLanes, DstNext: m * winogradLanes,
	}
	for r := range p.rows {
		simd.Winograd(g.form, simd.WinogradOutput, pixels[r*m*pitch*winogradLanes:], block.Data, r*p.cols*block.RowStride, &w.strides, p.cols, &w.bias, w.scratch)
	}
	if width == pitch && o.w == pitch {
		width, lines = lines*width, 1
	}
	made := w.to.y[p.image*o.image+first*plane+p.row*m*o.w+p.col*m:]
	for i := range lines {
		simd.Transpose(made[i*o.w:], pixels[i*pitch*winogradLanes:], plane, winogradLanes, width, lanes)
	}
}
