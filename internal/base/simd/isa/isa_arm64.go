package isa

import "golang.org/x/sys/cpu"

// neon is on every 64-bit ARM processor.
var neon = Level{Name: "neon", Lanes: 4}

// supported lists the levels of this computer, the best first.
func supported() []*Level { return []*Level{&neon, &plain} }

// HasBytes reports whether the processor adds up products of bytes (SDOT).
func HasBytes() bool { return cpu.ARM64.HasASIMDDP }
