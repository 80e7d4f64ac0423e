// Package validation holds published measurements of training and all-reduces on clusters, each file with its source, and the tests
// that hold the modelled network against them. Nothing in it is an input of a built-in cluster; what the tests assume beside those is
// listed in topology/DEVIATIONS.md.
package validation
