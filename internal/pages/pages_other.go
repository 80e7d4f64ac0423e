//go:build !linux

package pages

func onLarge(n int) []float32 { return make([]float32, n) }
