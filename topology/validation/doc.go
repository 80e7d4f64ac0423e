// Package validation holds published measurements of training and all-reduces on clusters, each file with its source, and the tests
// that compare the modelled network with them. Nothing in it is an input of a built-in cluster. topology/DEVIATIONS.md lists what the tests
// assume beside the built-in clusters.
package validation
