package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// BlockSums adds up the channels of images that lie in blocks of channels, natively.
type BlockSums struct {
	machine                *cpe.Machine
	images, channels, size int
	x                      []float32
	sums                   []float64
	rows                   [][]float32 // a core group each
}

// sumRow is how many values are added side by side.
const sumRow = 64 * BlockLanes

// NewBlockSums prepares sums over images with channels planes of size values.
func NewBlockSums(m *cpe.Machine, images, channels, size int) *BlockSums {
	b := &BlockSums{machine: m, images: images, channels: channels, size: size, sums: make([]float64, channels)}
	for range m.Spec().CoreGroups {
		b.rows = append(b.rows, make([]float32, sumRow))
	}
	return b
}

// Run adds the sums of the channels to sums.
func (b *BlockSums) Run(x, sums []float32) error {
	b.x = x
	if err := b.machine.Run(b, 0); err != nil {
		return err
	}
	for c, s := range b.sums {
		sums[c] += float32(s)
	}
	return nil
}

// Name names the sums.
func (b *BlockSums) Name() string { return "channel sums" }

// RunGroup does a core group's share of the blocks: values of a plane are added up in float32, planes in float64.
func (b *BlockSums) RunGroup(g *cpe.CoreGroup) error {
	row := b.rows[g.Index()]
	lo, hi := g.Share(b.channels / BlockLanes)
	for block := lo; block < hi; block++ {
		sums := b.sums[block*BlockLanes:][:BlockLanes]
		clear(sums)
		for image := range b.images {
			plane := b.x[(image*b.channels+block*BlockLanes)*b.size:][:BlockLanes*b.size]
			clear(row)
			for ; len(plane) > 0; plane = plane[min(sumRow, len(plane)):] {
				n := min(sumRow, len(plane))
				simd.Add(row[:n], row[:n], plane[:n])
			}
			for i, v := range row {
				sums[i%BlockLanes] += float64(v)
			}
		}
	}
	return nil
}
