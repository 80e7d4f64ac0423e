package winograd

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// readBlocks is read for images in blocks of channels, and for gradients that pooling computes in blocks. Squares inside the image are
// transformed in place; only squares that reach beyond it are copied.
func (s *squares) readBlocks(w *worker, g *tileGrid, p patch, slice int, x []float32, to *pointPlanes, at int) {
	m := g.form.Tile
	lines, pitch := m*p.rows+s.edge-m, g.dilateW*(m*p.cols+s.edge-m)
	y0, x0 := g.line(p)-s.padH, p.col*m*g.dilateW-s.padW
	top, bottom := insideEvery(g.dilateH, y0, lines, s.h)
	left, right := tiling.Inside(x0, pitch, s.w)
	plane := s.plane(w, p.image, slice, x)
	pixels, first, wide := plane, (y0*s.w+x0)*sliceLanes, s.w*g.dilateH
	if bottom-top < lines || right-left < pitch {
		pixels, first, wide = w.pixels, 0, pitch
		for y := range lines {
			line := pixels[y*pitch*sliceLanes : (y+1)*pitch*sliceLanes]
			if y < top || y >= bottom || left == right {
				clear(line)
				continue
			}
			clear(line[:left*sliceLanes])
			copy(line[left*sliceLanes:right*sliceLanes], plane[((y0+y*g.dilateH)*s.w+x0+left)*sliceLanes:])
			clear(line[right*sliceLanes:])
		}
	}
	s.mapped(w, g, p, pixels, first, wide, to.at(at, slice, p.rows*p.cols*g.dilateW))
}

// plane returns a slice of channels of an image.
func (s *squares) plane(w *worker, image, slice int, x []float32) []float32 {
	if s.pooled != nil {
		return s.pooled.grad(w.room, x, image, slice)
	}
	return x[image*s.image+slice*sliceLanes*s.h*s.w:][:sliceLanes*s.h*s.w]
}

// writeBlocks is write for images in blocks of channels, and for results that are pooled in blocks. Tiles inside the image are transformed
// straight to their place, unless they must still be masked or pooled.
func (o *tilesOut) writeBlocks(w *worker, g *tileGrid, p patch, slice, lanes int, src *pointPlanes, at int) {
	lines, pitch, width := o.extents(g, p)
	if lines == 0 {
		return
	}
	w.setBias(slice*sliceLanes, lanes)
	plane, above := o.plane(w, p.image, slice)
	corner := o.corner(g, p) * sliceLanes
	target := plane[corner:]
	pixels, wide := target, o.w*g.dilateH
	direct := lines == g.form.Tile*p.rows && width == pitch && above == nil
	if !direct {
		pixels, wide = w.pixels, pitch
	}
	o.mapped(w, g, p, pixels, wide, src.at(at, slice, p.rows*p.cols*g.dilateW))
	for i := range lines {
		if direct {
			break
		}
		at, line := i*g.dilateH*o.w*sliceLanes, pixels[i*pitch*sliceLanes:][:width*sliceLanes]
		copyWhere(target[at:], line, tiling.From(above, corner+at))
	}
	switch {
	case o.pooled != nil:
		o.pooled.max(w.room, w.to.y, p.image, slice)
	case w.to.finish != nil:
		o.finish(&w.to, p.image*o.image+slice*sliceLanes*o.h*o.w+corner, slice, lines, width, g.dilateH)
	}
}

// finish calls Arrays.Finish for the lines of a patch, which are apart image lines from each other; the first starts at value corner.
func (o *tilesOut) finish(to *destination, corner, slice, lines, width, apart int) {
	if width == o.w && apart == 1 {
		lines, width = 1, lines*width
	}
	for i := range lines {
		at := to.at + corner + i*apart*o.w*sliceLanes
		to.finish(to.all[at:at+width*sliceLanes], at, to.block+slice)
	}
}

// plane returns the destination of a slice of channels of an image, and the slice of the ReLU mask, or nil.
func (o *tilesOut) plane(w *worker, image, slice int) (plane, above []float32) {
	if o.pooled != nil {
		return o.pooled.results(w.room), nil
	}
	first := image*o.image + slice*sliceLanes*o.h*o.w
	return w.to.y[first:], tiling.From(w.to.above, first)
}

// copyWhere copies src to dst. If above is not nil, dst is 0 where above is not greater than 0.
func copyWhere(dst, src, above []float32) {
	if above == nil {
		copy(dst, src)
	} else {
		vec.ReLUGrad(dst[:len(src)], src, above, 0)
	}
}
