package emit

// Lanes is how many channels a block of channels has, and pixelBytes how many bytes.
const (
	Lanes      = 16
	PixelBytes = 4 * Lanes
)
