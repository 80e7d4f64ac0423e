//go:build race

package racing

// Detector reports whether the race detector watches this program.
const Detector = true
