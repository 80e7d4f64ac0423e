package layers

// Blocker is implemented by layers that can work on images whose channels lie in blocks (kernel.BlockLanes): a net keeps such a
// layout through a run of layers, so that nothing is turned between them.
type Blocker interface {
	// Blocking says what the layer can do, as it stands after Reshape.
	Blocking() Blocking
	// SetBlocked says how the values and gradients of all bottoms and of all tops lie from now on. It is called after Reshape, which may
	// come again with the same shapes and then keeps the layout.
	SetBlocked(bottoms, tops bool) error
}

// Blocking is what a layer can do with blocks of channels.
type Blocking struct {
	Bottoms, Tops bool // may lie in blocks
	Alike         bool // if bottoms do, tops do
	Gains         bool // it has less to do then
}
