package layers

// Pixels that strides meet may be all that layers read of some images: such images are kept thin (shape.Thin), of each plane only
// those pixels, at its front. What stands behind them is nobody's. Gradients lie likewise.

// ThinReader is implemented by layers that may read no more than what strides meet of bottoms in blocks of channels, nor write more
// of their gradients.
type ThinReader interface {
	// Strides says what they read, as they stand after SetBlocked; ones if it is all.
	Strides() (h, w int)
	// ReadThin says whether bottoms, and their gradients, are thin from now on.
	ReadThin(on bool) error
}

// ThinWriter is implemented by layers that need not make all pixels of their tops.
type ThinWriter interface {
	// WritesThin reports whether tops may be thin, as the layer stands after SetBlocked and for all shapes that may come.
	WritesThin() bool
	// WriteThin says what strides meet of the tops, which are thin from now on with their gradients, unless strides are ones.
	WriteThin(strideH, strideW int)
}
