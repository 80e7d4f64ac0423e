package emit

// Lanes is the number of channels of a block of channels, PixelBytes the bytes of a pixel of it, CacheLine those of a cache line.
const (
	Lanes      = 16
	PixelBytes = 4 * Lanes
	CacheLine  = 64
)
