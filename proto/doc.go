// Package proto reads, checks, upgrades and writes Caffe's files: prototxts, caffemodels, solver states and means. ReadNet and
// ReadSolver return a Net and a Solver in the current form, OpenWeights and OpenState the Weights and the State of a training
// run. Other packages import it as swproto.
//
//	text.go, textvalue.go       parser from text to message; every error has file:line:col; Source keeps the fields' positions
//	textskip.go                 how the parser continues after an error
//	lex.go, value.go, quote.go  tokens, numbers and strings of the text format
//	print.go                    message to text, in Caffe's form
//	binary.go, wire.go          binary files, and the diagnosis of damaged ones
//	atomic.go                   files that are written completely or not at all
//	file.go                     ReadNet, ReadSolver
//	stored.go                   OpenWeights, OpenState, ReadBinaryNet
//	upgrade*.go                 nets and solvers in older forms to the current one
//	forks.go                    layers and fields of Caffe's forks, for error messages
//
// The messages are in caffepb, which generate.sh generates from caffe.proto. This package parses the text format itself, because
// protobuf's prototext stops at the first error, names no file and keeps no positions. Tests check that both accept the same
// texts, with the same message.
package proto

//go:generate ./generate.sh
