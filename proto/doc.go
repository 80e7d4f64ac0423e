// Package proto reads, checks, upgrades and writes the files of Caffe: prototxts, caffemodels, solver states and means.
// Elsewhere it is imported as swproto.
//
//	text.go, textvalue.go       text to message, with every error at file:line:col; Source keeps where things stand
//	textskip.go                 how that goes on after an error
//	lex.go, value.go, quote.go  tokens, numbers and strings of the text format
//	print.go                    message to text, as Caffe prints it
//	binary.go, wire.go          binary files, and what is wrong with one that does not parse
//	atomic.go                   files that are written whole or not at all
//	file.go                     ReadNet, ReadSolver
//	stored.go                   OpenWeights, OpenState, ReadWeights
//	upgrade*.go                 nets and solvers in older forms to the current one
//	forks.go                    which fork of Caffe a layer or field is from that Caffe does not have
//
// The messages are in caffepb; generate.sh makes it from caffe.proto. The text format is read here and not by
// protobuf's own prototext, because that stops at the first error, names no file and keeps no positions; the tests hold
// both to the same verdict and the same message.
package proto

//go:generate ./generate.sh
