//go:build !amd64 && !arm64

package isa

// supported lists the levels of this computer: plain Go.
func supported() []*Level { return []*Level{&plain} }
