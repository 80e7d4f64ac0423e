// Command swcaffe trains, tests and times Caffe networks on this computer's cores and on a model of the Sunway SW26010.
//
// Its commands are in cmd/internal, one file each; cmd/internal/all lists them. This package also holds the tests that run the binary.
package main

import "github.com/swcaffe/swcaffe/cmd/internal/all"

var commands = all.Commands

func main() { commands.Main() }
