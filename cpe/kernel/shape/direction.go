package shape

// Direction is one of the three results of a convolution. WeightGradient and InputGradient are the gradients with respect to weights and
// images.
type Direction int

const (
	Forward Direction = iota
	WeightGradient
	InputGradient
	// BothGradients is the weight gradient and the input gradient in one pass.
	BothGradients
)

// String returns the direction's name.
func (d Direction) String() string {
	return [...]string{"forward", "weight gradient", "input gradient", "both gradients"}[d]
}
