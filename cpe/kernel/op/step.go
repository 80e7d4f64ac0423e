package op

// Step is work that a kernel may do along with its direction, before results leave a core's cache. An algorithm that refuses a step leaves it to
// its caller, who does it in a pass over memory of its own.
type Step int

const (
	// Floor makes negative results zero, as ReLU does.
	Floor Step = iota
	// Post applies functions of single results, or of single channels (Finish).
	Post
	// Overwrite stores the gradient of weights whatever was there. Kernels that refuse it always add.
	Overwrite
	// SumBiases also sums the gradient of biases.
	SumBiases
	// Mask makes the gradient of images zero where another array is not positive, as the gradient of ReLU is.
	Mask
	// Add adds the gradient of images to what is there. Kernels that refuse it always overwrite.
	Add
	// Steps is the number of steps.
	Steps int = iota
)

// String says what the step does.
func (s Step) String() string {
	return [...]string{"apply ReLU", "apply the layers behind", "overwrite", "sum biases", "apply the gradient of ReLU", "add"}[s]
}

// Finish changes some results in place, once for each result. y are those from number at on, in the order of their layout; they lie in one image, and their channels begin
// with first: pixels of block number first if channels are in blocks; pixels of channel first in planes; or, in planes of one pixel, the channels from first on. Core
// groups call it at the same time.
type Finish func(y []float32, at, first int)

// RefusesStep returns nil, or the reason why the algorithm's kernel for p does not do a step.
func (a *Algorithm[S, K]) RefusesStep(p *Problem[S], s Step) error {
	if a.Steps == nil {
		return Among(s)
	}
	return a.Steps(p, s)
}

// Only refuses all steps but those listed.
func Only[S Shape](steps ...Step) func(p *Problem[S], s Step) error {
	return func(_ *Problem[S], s Step) error { return Among(s, steps...) }
}

// Among refuses a step that is not listed.
func Among(s Step, steps ...Step) error {
	for _, listed := range steps {
		if s == listed {
			return nil
		}
	}
	return &refusal{"its kernel does not %v", []any{s}}
}
