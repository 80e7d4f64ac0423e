package shape

// Algorithm names how a kernel computes a direction of a convolution, a matrix product or a pooling, as reports print it. It is set where
// the kernel is planned, so that it tells what runs. The packages gemm, pool, norm and conv list their algorithms.
type Algorithm string

// Before returns the name of an algorithm that reduces its problem to one that inner solves.
func (a Algorithm) Before(inner Algorithm) Algorithm { return a + "-" + inner }
