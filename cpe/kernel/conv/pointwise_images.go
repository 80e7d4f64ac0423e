package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// pointImages describes the images on one side of a pointwise convolution: N x C x H x W by planes or in blocks of channels. With strides
// only some pixels take part (shape.Thin). Kernels work on blocks. Unless the pixels that take part are stored contiguously in blocks, a span
// of them at a time is copied to scratch memory or back. Missing channels of the last block are zeros.
type pointImages struct {
	shape.Thin
	channels int
	layout   Layout
}

// newPointImages describes images of extents in; the pixels at multiples of stride take part.
func newPointImages(channels int, layout Layout, in, stride []int) pointImages {
	p := pointImages{channels: channels, layout: layout}
	p.H, p.W = tiling.Two(in, 1)
	p.StrideH, p.StrideW = tiling.Two(stride, 1)
	return p
}

// blocks is the number of blocks of channels.
func (p *pointImages) blocks() int { return tiling.Blocks(p.channels, shape.BlockLanes) }

// thin reports whether only some pixels take part.
func (p *pointImages) thin() bool { return p.StrideH*p.StrideW > 1 }

// direct reports whether the pixels that take part are stored contiguously in blocks.
func (p *pointImages) direct() bool {
	return p.layout == FrontBlocks || p.layout == Blocks && !p.thin()
}

// blocked reports whether images are stored in blocks of channels.
func (p *pointImages) blocked() bool { return p.layout != Planes }

// scratch is the number of values of scratch memory for n pixels of some blocks, including a buffer for one block that is transposed.
func (p *pointImages) scratch(blocks, n int) int {
	if p.direct() {
		return 0
	}
	return (blocks + 1) * n * shape.BlockLanes
}

// pointBlocks locates the pixels of a span in blocks: the values, and the distances of blocks and of images.
type pointBlocks struct {
	data        []float32
	jump, image int
}

// from skips the first n blocks.
func (p pointBlocks) from(n int) pointBlocks {
	p.data = p.data[n*p.jump:]
	return p
}

// at returns where n blocks of channels of a span, starting with block first, are or will be stored.
func (p *pointImages) at(data []float32, s pointSpan, first, n int, scratch []float32) pointBlocks {
	if p.direct() {
		jump := p.H * p.W * shape.BlockLanes
		return pointBlocks{data[(s.image*p.blocks()+first)*jump+s.first*shape.BlockLanes:], jump, p.blocks() * jump}
	}
	jump := s.n * shape.BlockLanes
	return pointBlocks{scratch[jump:], jump, n * jump}
}

// gather copies n blocks of channels of a span to scratch memory, unless they are used in place.
func (p *pointImages) gather(data []float32, s pointSpan, first, n int, scratch []float32) {
	if p.direct() {
		return
	}
	to, lines := p.at(data, s, first, n, scratch), scratch[:s.n*shape.BlockLanes]
	for image := range s.images {
		for block := range n {
			dst := to.data[image*to.image+block*to.jump:][:to.jump]
			if p.blocked() {
				p.Gather(dst, data[((s.image+image)*p.blocks()+first+block)*p.H*p.W*shape.BlockLanes:], s.first, s.first+s.n)
				continue
			}
			p.gatherPlanes(dst, lines, data, s, s.image+image, first+block)
		}
	}
}

// gatherPlanes transposes the planes of a block of channels.
func (p *pointImages) gatherPlanes(dst, lines, data []float32, s pointSpan, image, block int) {
	rows, plane := min(shape.BlockLanes, p.channels-block*shape.BlockLanes), p.H*p.W
	src := data[(image*p.channels+block*shape.BlockLanes)*plane:]
	if rows < shape.BlockLanes {
		clear(dst)
	}
	if !p.thin() {
		vec.Transpose(dst, src[s.first:], shape.BlockLanes, plane, rows, s.n)
		return
	}
	for i := range rows {
		line := lines[i*s.n : (i+1)*s.n]
		p.eachRow(s, func(row, at, n int) { vec.Every(line[at:at+n], src[i*plane+row:], p.StrideW) })
	}
	vec.Transpose(dst, lines, shape.BlockLanes, s.n, rows, s.n)
}

// spread copies n blocks of channels of a span from scratch memory to the images, or adds them. Without add, pixels that do not take part
// become zero.
func (p *pointImages) spread(data []float32, s pointSpan, first, n int, scratch []float32, add bool) {
	if p.direct() {
		return
	}
	from, lines := p.at(data, s, first, n, scratch), scratch[:s.n*shape.BlockLanes]
	for image := range s.images {
		for block := range n {
			src := from.data[image*from.image+block*from.jump:][:from.jump]
			if p.blocked() {
				p.spreadBlock(data[((s.image+image)*p.blocks()+first+block)*p.H*p.W*shape.BlockLanes:], lines, src, s, add)
				continue
			}
			p.spreadPlanes(data, lines, src, s, s.image+image, first+block, add)
		}
	}
}

// spreadBlock is spread for one block of images stored in blocks; lines is a buffer.
func (p *pointImages) spreadBlock(dst, lines, src []float32, s pointSpan, add bool) {
	if !add {
		p.Spread(dst, src, s.first, s.first+s.n)
		return
	}
	p.eachRow(s, func(row, at, n int) {
		near, far := src[at*shape.BlockLanes:(at+n)*shape.BlockLanes], dst[row*shape.BlockLanes:]
		vec.CopyRows(lines, shape.BlockLanes, far, p.StrideW*shape.BlockLanes, n, shape.BlockLanes)
		vec.Add(near, near, lines)
		vec.CopyRows(far, p.StrideW*shape.BlockLanes, near, shape.BlockLanes, n, shape.BlockLanes)
	})
}

// spreadPlanes is spread for one block of images stored by planes.
func (p *pointImages) spreadPlanes(data, lines, src []float32, s pointSpan, image, block int, add bool) {
	rows, plane := min(shape.BlockLanes, p.channels-block*shape.BlockLanes), p.H*p.W
	dst := data[(image*p.channels+block*shape.BlockLanes)*plane:]
	if !p.thin() && !add {
		vec.Transpose(dst[s.first:], src, plane, shape.BlockLanes, s.n, rows)
		return
	}
	vec.Transpose(lines, src, s.n, shape.BlockLanes, s.n, rows)
	for i := range rows {
		line, to := lines[i*s.n:(i+1)*s.n], dst[i*plane:(i+1)*plane]
		if !p.thin() {
			vec.Add(to[s.first:s.first+s.n], to[s.first:], line)
			continue
		}
		if !add {
			clear(to[p.Place(s.first):p.Place(s.first+s.n)])
		}
		p.eachRow(s, func(row, at, n int) {
			for j, v := range line[at : at+n] {
				if add {
					v += to[row+j*p.StrideW]
				}
				to[row+j*p.StrideW] = v
			}
		})
	}
}

// eachRow calls f for each run of a span's pixels on one line. The run's first pixel is at index row of the plane, and is number at of the
// span.
func (p *pointImages) eachRow(s pointSpan, f func(row, at, n int)) {
	p.EachRun(s.first, s.first+s.n, func(i, place, n int) { f(place, i-s.first, n) })
}
