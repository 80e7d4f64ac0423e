package shape

// Strategy is a way to convolve.
type Strategy int

const (
	// Auto leaves the choice, direction by direction, to the machine's cost model.
	Auto Strategy = iota
	// Explicit writes the column matrix of a band of outputs (im2col) and multiplies.
	Explicit
	// Implicit multiplies with the column matrix of the whole batch as a view, which is gathered block by block.
	Implicit
	// Winograd2, Winograd4 and Winograd5 multiply in the transform domain, with tiles of 2x2, 4x4 and 5x5 outputs: F(2x2,3x3),
	// F(4x4,3x3), F(4x4,5x5) and F(5x5,3x3). See winogradConv.
	Winograd2
	Winograd4
	Winograd5
	// Winograd is one of these, and only asked for: the one with least work on the host, F(2x2,3x3) as in Fang 2019 on a model.
	Winograd
)

// String returns the name that -strategy takes.
func (s Strategy) String() string {
	return [...]string{"auto", "explicit", "implicit", "winograd2", "winograd4", "winograd5", "winograd"}[s]
}

// Tile returns the edge of the tiles of outputs that one of Winograd's strategies computes, 0 for other strategies.
func (s Strategy) Tile() int {
	switch s {
	case Winograd2:
		return 2
	case Winograd4:
		return 4
	case Winograd5:
		return 5
	}
	return 0
}

// IsWinograd reports whether a strategy is one of Winograd's, with tiles of a known size.
func (s Strategy) IsWinograd() bool { return s.Tile() > 0 }
