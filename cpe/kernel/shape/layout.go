package shape

// Layout is the order of images or results in memory.
type Layout int

const (
	// Planes is Caffe's layout: N x C x H x W.
	Planes Layout = iota
	// Blocks stores the values of 16 channels at a pixel side by side: N x C/16 x H x W x 16. See [BlockLanes].
	Blocks
	// FrontBlocks is Blocks for images of which a strided 1x1 convolution reads only some pixels. These pixels are packed at the front of
	// each plane; the rest of the plane is undefined.
	FrontBlocks
	// RoundedBlocks is Blocks for values rounded to bfloat16, of twice as many channels a block where the processor multiplies pairs of these (factors.Round).
	RoundedBlocks
)

// InBlocks returns Blocks or, if on is false, Planes.
func InBlocks(on bool) Layout {
	if on {
		return Blocks
	}
	return Planes
}

// String returns "planes", "blocks", "front blocks" or "rounded blocks".
func (l Layout) String() string {
	return [...]string{"planes", "blocks", "front blocks", "rounded blocks"}[l]
}
