package shape

// Algorithm names the way in which a kernel computes a convolution's direction, a matrix product or a pooling. Logs and reports print it.
// Planning sets it where it makes the kernel, so that it tells what runs.
//
// Two words may stand before the name of another algorithm: Folded and Thinned. Covering stands before that of a product.
type Algorithm string

// Before is the algorithm that reduces a problem to one of another.
func (a Algorithm) Before(inner Algorithm) Algorithm { return a + "-" + inner }
