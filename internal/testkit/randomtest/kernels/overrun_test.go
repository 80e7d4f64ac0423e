package kernels

import "unsafe"

// overrun writes the value behind the end of a slice, as a wrong kernel in assembly would.
func overrun(data []float32) {
	unsafe.Slice(unsafe.SliceData(data), len(data)+1)[len(data)] = 1
}
