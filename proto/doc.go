// Package proto reads, checks, upgrades and writes the files of Caffe: prototxts, caffemodels, solver states and means.
// Elsewhere it is imported as swproto.
//
//	lex.go, text.go  text to message, all errors with file:line:col; Source keeps where things stand
//	value.go         scalars of the text format
//	print.go         message to text
//	binary.go        binary files, written whole or not at all
//	file.go          ReadNet, ReadSolver, ReadWeights
//	upgrade*.go      nets and solvers in older forms to the current one
//
// The messages are in caffepb; generate.sh makes it from caffe.proto.
package proto

//go:generate ./generate.sh
