package tensor

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Images describes the images on one side of a pointwise convolution: N x C x H x W by planes or in blocks of channels. With strides
// only some pixels take part (shape.Thin). Kernels work on blocks. Unless the pixels that take part are stored contiguously in blocks, a span
// of them at a time is copied to scratch memory or back. Missing channels of the last block are zeros.
type Images struct {
	shape.Thin
	Channels int
	layout   shape.Layout
}

// NewImages describes images of extents in; the pixels at multiples of stride take part.
func NewImages(channels int, layout shape.Layout, in, stride []int) Images {
	p := Images{Channels: channels, layout: layout}
	p.H, p.W = tiling.Two(in, 1)
	p.StrideH, p.StrideW = tiling.Two(stride, 1)
	return p
}

// Blocks is the number of blocks of channels.
func (p *Images) Blocks() int { return tiling.Blocks(p.Channels, shape.BlockLanes) }

// Strided reports whether only some pixels take part.
func (p *Images) Strided() bool { return p.StrideH*p.StrideW > 1 }

// Direct reports whether the pixels that take part are stored contiguously in blocks.
func (p *Images) Direct() bool {
	return p.layout == shape.FrontBlocks || p.layout == shape.Blocks && !p.Strided()
}

// blocked reports whether images are stored in blocks of channels.
func (p *Images) blocked() bool { return p.layout != shape.Planes }

// Scratch is the number of values of scratch memory for n pixels of some blocks, including a buffer for one block that is transposed.
func (p *Images) Scratch(blocks, n int) int {
	if p.Direct() {
		return 0
	}
	return (blocks + 1) * n * shape.BlockLanes
}

// Blocks locates the pixels of a span in blocks: the values, and the distances of blocks and of images.
type Blocks struct {
	Data        []float32
	Jump, Image int
}

// From skips the first n blocks.
func (p Blocks) From(n int) Blocks {
	p.Data = p.Data[n*p.Jump:]
	return p
}

// At returns where n blocks of channels of a span, starting with block first, are or will be stored.
func (p *Images) At(data []float32, s Span, first, n int, scratch []float32) Blocks {
	if p.Direct() {
		jump := p.H * p.W * shape.BlockLanes
		return Blocks{data[(s.Image*p.Blocks()+first)*jump+s.First*shape.BlockLanes:], jump, p.Blocks() * jump}
	}
	jump := s.N * shape.BlockLanes
	return Blocks{scratch[jump:], jump, n * jump}
}

// Load copies n blocks of channels of a span to scratch memory, unless they are used in place.
func (p *Images) Load(data []float32, s Span, first, n int, scratch []float32) {
	if p.Direct() {
		return
	}
	to, lines := p.At(data, s, first, n, scratch), scratch[:s.N*shape.BlockLanes]
	for image := range s.Images {
		for block := range n {
			dst := to.Data[image*to.Image+block*to.Jump:][:to.Jump]
			if p.blocked() {
				p.Gather(dst, data[((s.Image+image)*p.Blocks()+first+block)*p.H*p.W*shape.BlockLanes:], s.First, s.First+s.N)
				continue
			}
			p.loadPlanes(dst, lines, data, s, s.Image+image, first+block)
		}
	}
}

// loadPlanes transposes the planes of a block of channels.
func (p *Images) loadPlanes(dst, lines, data []float32, s Span, image, block int) {
	rows, plane := min(shape.BlockLanes, p.Channels-block*shape.BlockLanes), p.H*p.W
	src := data[(image*p.Channels+block*shape.BlockLanes)*plane:]
	if rows < shape.BlockLanes {
		clear(dst)
	}
	if !p.Strided() {
		vec.Transpose(dst, src[s.First:], shape.BlockLanes, plane, rows, s.N)
		return
	}
	for i := range rows {
		line := lines[i*s.N : (i+1)*s.N]
		p.eachRow(s, func(row, at, n int) { vec.Every(line[at:at+n], src[i*plane+row:], p.StrideW) })
	}
	vec.Transpose(dst, lines, shape.BlockLanes, s.N, rows, s.N)
}

// Store copies n blocks of channels of a span from scratch memory to the images, or adds them. Without add, pixels that do not take part
// become zero.
func (p *Images) Store(data []float32, s Span, first, n int, scratch []float32, add bool) {
	if p.Direct() {
		return
	}
	from, lines := p.At(data, s, first, n, scratch), scratch[:s.N*shape.BlockLanes]
	for image := range s.Images {
		for block := range n {
			src := from.Data[image*from.Image+block*from.Jump:][:from.Jump]
			if p.blocked() {
				p.storeBlock(data[((s.Image+image)*p.Blocks()+first+block)*p.H*p.W*shape.BlockLanes:], lines, src, s, add)
				continue
			}
			p.storePlanes(data, lines, src, s, s.Image+image, first+block, add)
		}
	}
}

// Finish calls f for n blocks of channels of a span of images in blocks, starting with block first.
func (p *Images) Finish(f op.Finish, data []float32, s Span, first, n int) {
	plane := p.H * p.W
	for image := s.Image; image < s.Image+s.Images; image++ {
		for block := first; block < first+n; block++ {
			at := ((image*p.Blocks()+block)*plane + s.First) * shape.BlockLanes
			f(data[at:at+s.N*shape.BlockLanes], at, block)
		}
	}
}

// storeBlock is spread for one block of images stored in blocks; lines is a buffer.
func (p *Images) storeBlock(dst, lines, src []float32, s Span, add bool) {
	if !add {
		p.Spread(dst, src, s.First, s.First+s.N)
		return
	}
	p.eachRow(s, func(row, at, n int) {
		near, far := src[at*shape.BlockLanes:(at+n)*shape.BlockLanes], dst[row*shape.BlockLanes:]
		vec.CopyRows(lines, shape.BlockLanes, far, p.StrideW*shape.BlockLanes, n, shape.BlockLanes)
		vec.Add(near, near, lines)
		vec.CopyRows(far, p.StrideW*shape.BlockLanes, near, shape.BlockLanes, n, shape.BlockLanes)
	})
}

// storePlanes is spread for one block of images stored by planes.
func (p *Images) storePlanes(data, lines, src []float32, s Span, image, block int, add bool) {
	rows, plane := min(shape.BlockLanes, p.Channels-block*shape.BlockLanes), p.H*p.W
	dst := data[(image*p.Channels+block*shape.BlockLanes)*plane:]
	if !p.Strided() && !add {
		vec.Transpose(dst[s.First:], src, plane, shape.BlockLanes, s.N, rows)
		return
	}
	vec.Transpose(lines, src, s.N, shape.BlockLanes, s.N, rows)
	for i := range rows {
		line, to := lines[i*s.N:(i+1)*s.N], dst[i*plane:(i+1)*plane]
		if !p.Strided() {
			vec.Add(to[s.First:s.First+s.N], to[s.First:], line)
			continue
		}
		if !add {
			clear(to[p.Place(s.First):p.Place(s.First+s.N)])
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
func (p *Images) eachRow(s Span, f func(row, at, n int)) {
	p.EachRun(s.First, s.First+s.N, func(i, place, n int) { f(place, i-s.First, n) })
}
