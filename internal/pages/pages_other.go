//go:build !linux

package pages

func advise([]float32) {}
