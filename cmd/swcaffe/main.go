// Command swcaffe trains, tests and times Caffe networks on this computer's cores and on a model of the Sunway SW26010.
//
// This package holds the list of commands and the tests that run the binary as its users do. A command is one value and stands, with its
// flags and its code, in a file of its own in a group below internal; internal/cli reads command lines and runs the command that they name.
package main

// commands in the order in which help lists them.
var commands = commandList{
	trainCommand, testCommand, timeCommand, exploreCommand, deviceQueryCommand, bandwidthCommand, verifyCommand, allreduceCommand, scaleCommand, datasetCommand,
	convertImagesetCommand, computeImageMeanCommand, extractFeaturesCommand,
	upgradeNetTextCommand, upgradeNetBinaryCommand, upgradeSolverTextCommand,
	convertMnistCommand, convertCifarCommand, convertMnistSiameseCommand,
	classifyCommand, parseLogCommand, plotLogCommand, drawNetCommand, fmtCommand, installLinksCommand, versionCommand,
}

func main() { commands.main() }
