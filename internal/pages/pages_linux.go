package pages

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// large is the size of a large page on most processors, in bytes. Where pages are larger the advice has no effect.
const large = 2 << 20

// advise asks for large pages, which the system may not have: then nothing changes.
func advise(x []float32) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
	head := int(-uintptr(unsafe.Pointer(&x[0])) % large)
	if whole := (len(bytes) - head) / large * large; whole > 0 {
		_ = unix.Madvise(bytes[head:head+whole], unix.MADV_HUGEPAGE)
	}
}
