package layers

// What a net asks of layers about gradients: which are wanted (net/backward.go), and which may share a place (net/gradients.go).

// GradSelector is implemented by layers with parameters (through Base): the net says which parameter gradients the
// solver will use, so that the others need not be computed.
type GradSelector interface {
	SetParamGrad(i int, need bool)
}

// GradAdder is implemented by layers that can add the gradient of their bottoms to what is there, instead of overwriting it, as they
// stand after Reshape.
type GradAdder interface {
	CanAddGrad() bool
	AddGrad(on bool)
}

// GradPasser is implemented by layers that can give some bottoms one and the same gradient: if these bottoms' diffs share their storage
// with the top's, Backward writes it there.
type GradPasser interface {
	PassesGrad(bottom int) bool
}

// GradReplacer is implemented by layers that can write their bottom's gradient where the top's stands, which they read before: both are
// then in caches, and the place of one does.
type GradReplacer interface {
	ReplacesGrad() bool
}

// GradSummer is implemented by layers whose bottom's gradient is the sum of the tops': if the tops' diffs share their storage with the
// bottom's, the readers of the tops have added it up there, and Backward does nothing.
type GradSummer interface {
	SumsGrads() bool
}

// Layers that implement them; where a method did not fit, only time would be lost, and nobody would see it.
var (
	_ GradSelector = (*Base)(nil)
	_ GradAdder    = (*convolution)(nil)
	_ GradPasser   = (*eltwise)(nil)
	_ GradPasser   = (*normSum)(nil)
	_ GradPasser   = (*rectifiedSum)(nil)
	_ GradReplacer = (*normChain)(nil)
	_ GradSummer   = (*split)(nil)
)
