// Package netdraw draws nets legibly, large ones too. New makes the Graph of a net; Graph.DOT writes it in Graphviz's language,
// and Graph.Draw draws it as SVG or PNG.
//
// A drawing has a box for each layer, with its important parameters. In-place layers are stacked below the layer whose blob they
// change. Each blob is an arrow, which forks if several layers read it. Equal nets give equal pictures.
//
// The layout follows Sugiyama, Tagawa and Toda (1981), one step per file. rank.go assigns boxes to ranks. order.go orders each
// rank so that few arrows cross. place.go chooses positions that make arrows straight.
package netdraw
