package pages

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// large is the size in bytes of a large page on most processors. On systems with larger pages the request has no effect.
const large = 2 << 20

// untouched returns n zeros outside of Go's heap that are never freed, or nil if the system refuses.
func untouched(n int) []float32 {
	bytes, err := unix.Mmap(-1, 0, 4*n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	_ = unix.Madvise(bytes, unix.MADV_NOHUGEPAGE) // a large page would be zeroed for a single value
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(bytes))), n)
}

// onLarge returns n zeros that begin at a large page. It requests large pages for all but the last one, whose unused rest would
// waste memory. The system may refuse. What lies before and behind the array is given back: it takes memory where Go has cleared it.
func onLarge(n int) []float32 {
	const page = large / 4
	x := make([]float32, n+page)
	front := int(-uintptr(unsafe.Pointer(&x[0]))%large) / 4
	Release(x[:front])
	Release(x[front+n:])
	x = x[front:]
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), n/page*large), unix.MADV_HUGEPAGE)
	return x[:n:n]
}

// Release gives the pages that lie within b back to the system at once; Go's collector would do so much later. The slice stays valid. Its values
// are undefined, and take memory again when they are written.
func Release[T byte | int16 | float32](b []T) {
	if len(b) == 0 {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b)*int(unsafe.Sizeof(b[0])))
	page := os.Getpagesize()
	bytes = bytes[min(len(bytes), int(-uintptr(unsafe.Pointer(&bytes[0]))%uintptr(page))):]
	if n := len(bytes) / page * page; n > 0 {
		_ = unix.Madvise(bytes[:n], unix.MADV_DONTNEED) // no error means that something is lost
	}
}
