// Package netdraw draws nets so that large ones can be read: a box for each layer with what matters of its parameters, the
// layers that work in place stacked below the one whose blob they change, an arrow for each blob, which forks where several
// layers read it.
//
// New makes the Graph of a net, Graph.DOT writes it in Graphviz's language, and Graph.Draw draws it as SVG or PNG. Where boxes
// go is found in the steps of Sugiyama, Tagawa and Toda (1981), each in a file of its own: boxes get ranks (rank.go),
// the order in each rank is chosen so that few arrows cross (order.go), and places are chosen so that arrows are straight
// (place.go). Equal nets give equal pictures.
package netdraw
