package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// squares transforms squares of images to points, one slice of channels of a patch at a time.
type squares struct {
	kind     vwinograd.Map
	edge     int // edge of a square; neighbouring squares are a tile's edge apart
	padH     int // distance of the first square from the image, upwards and to the left
	padW     int
	h, w     int        // extents of the image
	channels int        // channels of a group
	blocks   bool       // images are stored in blocks of channels
	image    int        // distance of images in values
	pooled   *Pooling   // if not nil, the source is the gradient of pooled outputs
	fold     *imageFold // folds the source on the fly, if not nil
}

// gradSquares returns the squares of the images and of DY for the gradients of a convolution.
func (t *task) gradSquares() (images, results squares) {
	s := &t.Shape
	form, out := t.form, s.OutSize()
	images = squares{
		kind: vwinograd.Input, edge: form.Edge(), padH: s.Pad[0], padW: s.Pad[1],
		h: s.In[0], w: s.In[1], channels: s.C / s.Group, image: s.C * tiling.Size(s.In), blocks: t.Images != shape.Planes,
	}.folding(t.fold)
	results = squares{
		kind: vwinograd.OutputGrad, edge: form.Tile,
		h: out[0], w: out[1], channels: s.Out / s.Group, image: s.Out * tiling.Size(out), blocks: t.Results != shape.Planes, pooled: t.pooled,
	}
	return images, results
}

// slices is the number of slices of channels.
func (s *squares) slices() int { return tiling.Blocks(s.channels, sliceLanes) }

// folding returns squares that are folded on the fly by f; nil leaves them as they are.
func (s squares) folding(f *imageFold) squares {
	if s.fold = f; f != nil {
		s.image = f.image
	}
	return s
}

// of returns the images from the first channel of a group on.
func (s *squares) of(x []float32, group, groups int) []float32 {
	return tiling.From(x, group*(s.image/groups))
}

// read transforms the squares of a patch for a slice of channels of x. The points are stored from tile at on.
func (s *squares) read(w *worker, g *tileGrid, p patch, slice int, x []float32, to *pointPlanes, at int) {
	if s.blocks || s.pooled != nil {
		s.readBlocks(w, g, p, slice, x, to, at)
		return
	}
	m := g.form.Tile
	lines, pitch := m*p.rows+s.edge-m, g.dilateW*(m*p.cols+s.edge-m)
	y0, x0 := g.line(p)-s.padH, p.col*m*g.dilateW-s.padW
	pixels := w.pixels[:sliceLanes*lines*pitch]
	if s.fold == nil {
		s.transpose(pixels, x[p.image*s.image:], slice, y0, x0, lines, pitch, g.dilateH)
	} else {
		clear(pixels)
		rows, cols := tiling.Span{At: y0, N: min(lines, s.h-y0)}, tiling.Span{At: x0, N: min(pitch, s.w-x0)}
		s.fold.read(pixels, x[p.image*s.image:], tiling.Nth(slice, sliceLanes, s.channels), rows, cols, pitch)
	}
	s.mapped(w, g, p, pixels, 0, pitch, to.at(at, slice, p.rows*p.cols*g.dilateW))
}

// transpose puts the channels of a part of a slice side by side, in lines of pitch pixels. The first line starts at (y0,
// x0); lines are apart image lines from each other. Pixels outside the image become zeros.
//
// It is not tensor.Plane.Pad or tensor.BlockBand.Fill: these rely on borders that stay zero, while each patch writes its borders anew, at other
// places of the same small buffer.
func (s *squares) transpose(pixels, image []float32, slice, y0, x0, lines, pitch, apart int) {
	top, bottom := insideEvery(apart, y0, lines, s.h)
	left, right := tiling.Inside(x0, pitch, s.w)
	lanes := min(sliceLanes, s.channels-slice*sliceLanes)
	plane := s.h * s.w
	var data []float32
	if bottom > top && right > left {
		data = image[slice*sliceLanes*plane+(y0+top*apart)*s.w+x0+left:]
	}
	if lanes < sliceLanes {
		clear(pixels)
	}
	if right-left == pitch && s.w == pitch && apart == 1 {
		clear(pixels[:top*pitch*sliceLanes])
		vec.Transpose(pixels[top*pitch*sliceLanes:], data, sliceLanes, plane, lanes, (bottom-top)*pitch)
		clear(pixels[bottom*pitch*sliceLanes : lines*pitch*sliceLanes])
		return
	}
	for y := range lines {
		line := pixels[y*pitch*sliceLanes : (y+1)*pitch*sliceLanes]
		if y < top || y >= bottom || left == right {
			clear(line)
			continue
		}
		clear(line[:left*sliceLanes])
		vec.Transpose(line[left*sliceLanes:], data[(y-top)*apart*s.w:], sliceLanes, plane, lanes, right-left)
		clear(line[right*sliceLanes:])
	}
}

// mapped transforms the squares of a patch. The first square starts at index first of pixels, whose lines are pitch pixels long.
func (s *squares) mapped(w *worker, g *tileGrid, p patch, pixels []float32, first, pitch int, to cpe.Block) {
	m, runs := g.form.Tile, g.runs(p)
	w.strides = vwinograd.Strides{
		SrcRow: pitch * sliceLanes, SrcCol: g.dilateW * sliceLanes, SrcNext: runs.next * sliceLanes,
		DstRow: g.form.Edge() * to.PlaneStride, DstCol: to.PlaneStride, DstNext: to.RowStride,
	}
	for i := range p.rows * runs.count {
		at := first + (i/runs.count*m*pitch+i%runs.count*runs.apart)*sliceLanes
		vwinograd.Apply(g.form, s.kind, to.Data[i*runs.n*to.RowStride:], pixels, at, &w.strides, runs.n, nil, w.scratch)
	}
}

// tilesOut transforms points back to tiles of outputs.
type tilesOut struct {
	h, w   int      // extents of an output image
	image  int      // distance of images in values
	blocks bool     // outputs are stored in blocks of channels
	pooled *Pooling // if not nil, outputs are pooled before they are stored
}

// write transforms points, from tile at on, back to the tiles of a patch of the worker's outputs, for the first lanes channels of a slice.
func (o *tilesOut) write(w *worker, g *tileGrid, p patch, slice, lanes int, src *pointPlanes, at int) {
	if o.blocks || o.pooled != nil {
		o.writeBlocks(w, g, p, slice, lanes, src, at)
		return
	}
	lines, pitch, width := o.extents(g, p)
	if lines == 0 {
		return
	}
	first, plane := slice*sliceLanes, o.h*o.w
	w.setBias(first, lanes)
	o.mapped(w, g, p, w.pixels, pitch, src.at(at, slice, p.rows*p.cols*g.dilateW))
	if width == pitch && o.w == pitch && g.dilateH == 1 {
		width, lines = lines*width, 1
	}
	dst := w.to.y[p.image*o.image+first*plane+o.corner(g, p):]
	for i := range lines {
		vec.Transpose(dst[i*g.dilateH*o.w:], w.pixels[i*pitch*sliceLanes:], plane, sliceLanes, width, lanes)
	}
}

// extents returns the number of a patch's lines inside the image, the pixels of a line, and the pixels inside the image.
func (o *tilesOut) extents(g *tileGrid, p patch) (lines, pitch, width int) {
	m := g.form.Tile
	_, lines = insideEvery(g.dilateH, g.line(p), m*p.rows, o.h)
	pitch = m * p.cols * g.dilateW
	return lines, pitch, min(pitch, o.w-p.col*m*g.dilateW)
}

// corner returns the index of a patch's first pixel in a plane.
func (o *tilesOut) corner(g *tileGrid, p patch) int {
	return g.line(p)*o.w + p.col*g.form.Tile*g.dilateW
}

// mapped transforms points back to the tiles of a patch, in pixels whose lines are pitch pixels long.
func (o *tilesOut) mapped(w *worker, g *tileGrid, p patch, pixels []float32, pitch int, src cpe.Block) {
	m, runs := g.form.Tile, g.runs(p)
	w.strides = vwinograd.Strides{
		SrcRow: g.form.Edge() * src.PlaneStride, SrcCol: src.PlaneStride, SrcNext: src.RowStride,
		DstRow: pitch * sliceLanes, DstCol: g.dilateW * sliceLanes, DstNext: runs.next * sliceLanes,
	}
	for i := range p.rows * runs.count {
		to := pixels[(i/runs.count*m*pitch+i%runs.count*runs.apart)*sliceLanes:]
		vwinograd.Apply(g.form, vwinograd.Output, to, src.Data, i*runs.n*src.RowStride, &w.strides, runs.n, &w.bias, w.scratch)
	}
}
