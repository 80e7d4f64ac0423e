// Package plan plans and runs convolutions.
//
// A [Conv] is a planned convolution. For each direction it has chosen one algorithm of the list (list.go): the cheapest by the machine's cost
// model or, with a [Tuner], the fastest by measurement (tuned.go). A [op.Force] restricts the choice to a family of algorithms or to one by its
// name. [Conv.Run] computes a direction; [Conv.Can] says what can be fused with it. [Conv.Explain] says why an algorithm was chosen.
//
// Images and results may be stored in blocks of channels ([Conv.Blocks], [Conv.SetLayouts]). [Conv.Pooled] fuses max pooling.
package plan
