package pages

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// large is the size of a large page on most processors, in bytes. Where pages are larger the advice has no effect.
const large = 2 << 20

// onLarge returns n zeros that begin with a large page, and asks for such pages, which the system may not have, for all but the last of
// them, of which others would take more memory.
func onLarge(n int) []float32 {
	const page = large / 4
	x := make([]float32, n+page)
	x = x[int(-uintptr(unsafe.Pointer(&x[0]))%large)/4:]
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), n/page*large), unix.MADV_HUGEPAGE)
	return x[:n:n]
}
