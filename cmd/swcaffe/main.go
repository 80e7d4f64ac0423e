// Command swcaffe trains, tests and times Caffe networks on this computer's cores and on a model of the Sunway SW26010.
//
// This package holds the list of commands and the tests that run the binary. Each command is a cli.Command with a file of its own
// in one of these groups:
//
//	internal/train    train, alone or with many workers
//	internal/infer    test, classify, extract_features: trained nets
//	internal/measure  time, explore and other measurements and models of machines and clusters
//	internal/model    nets, solvers and weights as files: draw_net, fmt, upgrade_*, verify
//	internal/dataset  convert_*, compute_image_mean, dataset
//	internal/logs     parse_log, plot_log
//
// Groups import internal/cli and libraries, never each other.
package main

import (
	"github.com/swcaffe/swcaffe/cmd/swcaffe/internal/dataset"
	"github.com/swcaffe/swcaffe/cmd/swcaffe/internal/infer"
	"github.com/swcaffe/swcaffe/cmd/swcaffe/internal/logs"
	"github.com/swcaffe/swcaffe/cmd/swcaffe/internal/measure"
	"github.com/swcaffe/swcaffe/cmd/swcaffe/internal/model"
	"github.com/swcaffe/swcaffe/cmd/swcaffe/internal/train"
	"github.com/swcaffe/swcaffe/internal/cli"
)

// commands lists the commands in the order of "swcaffe help".
var commands = cli.Commands{
	train.Train,
	infer.Test,
	measure.Time,
	measure.Explore,
	measure.DeviceQuery,
	measure.Bandwidth,
	model.Verify,
	measure.AllReduce,
	measure.Scale,
	dataset.Dataset,
	dataset.ConvertImageset,
	dataset.ComputeImageMean,
	infer.ExtractFeatures,
	model.UpgradeNetText,
	model.UpgradeNetBinary,
	model.UpgradeSolverText,
	dataset.ConvertMnist,
	dataset.ConvertCifar,
	dataset.ConvertMnistSiamese,
	infer.Classify,
	logs.ParseLog,
	logs.PlotLog,
	model.DrawNet,
	model.Fmt,
	cli.InstallLinks,
	cli.Version,
}

func main() { commands.Main() }
