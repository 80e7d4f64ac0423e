package isa

// neon is on every 64-bit ARM processor.
var neon = Level{Name: "neon", Lanes: 4}

// supported lists the levels of this computer, the best first.
func supported() []*Level { return []*Level{&neon, &plain} }
