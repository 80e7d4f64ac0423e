package shape

// Strategy is a family of convolution algorithms that a user can force; see -strategy.
type Strategy int

const (
	// Auto leaves the choice for each direction to the cost model of the machine.
	Auto Strategy = iota
	// Explicit writes the column matrix of a band of results to memory (im2col), and multiplies with it.
	Explicit
	// Implicit computes without a column matrix in memory.
	Implicit
	// Winograd2, Winograd4 and Winograd5 multiply in the transform domain (Lavin and Gray 2016), in tiles of 2x2, 4x4 and 5x5 results:
	// F(2x2,3x3), F(4x4,3x3), F(4x4,5x5) and F(5x5,3x3).
	Winograd2
	Winograd4
	Winograd5
	// Winograd asks for one of these three: on the host the one that needs the least work, on a modelled machine F(2x2,3x3) as in Fang 2019.
	// It is never chosen itself.
	Winograd
)

// String returns the name by which -strategy takes it.
func (s Strategy) String() string {
	return [...]string{"auto", "explicit", "implicit", "winograd2", "winograd4", "winograd5", "winograd"}[s]
}

// Tile returns the edge of the tiles of results of one of Winograd's strategies, 0 for others.
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
