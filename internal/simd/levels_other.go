//go:build !amd64

package simd

// supported lists the levels of this machine, best first.
func supported() []*level { return []*level{&goLevel} }

// run applies an elementwise kernel; there is only plain Go here.
func (l *level) run(op, []float32, []float32, []float32, float32, float32) bool { return false }

// fold applies a reduction to no elements.
func (l *level) fold(fold, []float32, []float32, float32) (float64, int) { return 0, 0 }

// maxLanes is never called without vectors; nor are the functions below.
func (l *level) maxLanes(_, _ *float32, _ int) {}

// tile is the micro kernel.
func (l *level) tile(int, *float32, *float32, *float32, int, bool) {}

// panelA packs a full panel of A.
func (l *level) panelA(_, _ *float32, _, _, _ int) {}

// panelB packs a full panel of B.
func (l *level) panelB(_, _ *float32, _, _ int) {}

// scattered is the micro kernel whose B is not packed.
func (l *level) scattered(int, *float32, *float32, *int, *float32, int, *int, int, *int32, bool) {}

// transpose turns four rows.
func (l *level) transpose(_, _ *float32, _, _, _ int) {}

// maxPool takes maxima of windows.
func (l *level) maxPool(*float32, *int32, int, int, *float32, int, int, int, int, int, *int32) {}

// avePool takes means of windows.
func (l *level) avePool(*float32, float32, *float32, int, int, int, int, int, *int32) {}

// The kernels of single layer types are never called without vectors.
func (l *level) moments(*[16]float64, *float32, int, *float32)                 {}
func (l *level) normalise(*float32, *float32, int, *float32)                   {}
func (l *level) normaliseSums(*[16]float64, *float32, *float32, int, *float32) {}
func (l *level) normaliseGrad(*float32, *float32, *float32, int, *float32)     {}
func (l *level) lrn(*float32, *float32, *float32, int, int, int, *[2]float32)  {}
func (l *level) lrnRatio(*float32, *float32, *float32, *float32, *float32, int, int, int, *[2]float32) {
}
func (l *level) lrnGrad(*float32, *float32, *float32, int, int, int, *float32) {}
func (l *level) larger(*float32, *int32, *float32, *int32, int)                {}
func (l *level) evens(*float32, *float32, int)                                 {}
