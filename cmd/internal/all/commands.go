// Package all lists swcaffe's commands. The binary (cmd/swcaffe) and the library behind the Python module (cmd/libswcaffe) run them from
// here.
//
// Each command is a cli.Command with a file of its own in one of these packages:
//
//	train    train, alone or with many workers, finetune and lr_find
//	infer    test, classify, detect, extract_features, serve, quantize: trained nets
//	measure  time, explore and other measurements and models of machines and clusters
//	model    nets, solvers and weights as files: draw_net, fmt, upgrade_*, export_onnx, import_onnx, export_weights, import_weights, check, verify
//	dataset  convert_*, compute_image_mean, get_image_size, dataset, init
//	logs     parse_log, plot_log, board
//
// They import internal/app/cli and libraries, never each other.
package all

import (
	"slices"

	"github.com/swcaffe/swcaffe/cmd/internal/dataset"
	"github.com/swcaffe/swcaffe/cmd/internal/infer"
	"github.com/swcaffe/swcaffe/cmd/internal/logs"
	"github.com/swcaffe/swcaffe/cmd/internal/measure"
	"github.com/swcaffe/swcaffe/cmd/internal/model"
	"github.com/swcaffe/swcaffe/cmd/internal/train"
	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// Commands lists the commands in the order of "swcaffe help".
var Commands = slices.Concat(
	cli.Group("train nets", train.Train, train.Finetune, train.LRFind, model.Check),
	cli.Group("use and judge trained nets", infer.Test, infer.Classify, infer.Detect, infer.ExtractFeatures, infer.Serve, infer.Quantize),
	cli.Group("measure this computer, and model machines and clusters",
		measure.Time, model.Verify, measure.Explore, measure.Scale, measure.AllReduce, measure.Doctor, measure.Bandwidth, measure.DeviceQuery),
	cli.Group("make data",
		dataset.Init, dataset.Dataset, dataset.ConvertImageset, dataset.ConvertAnnoset, dataset.ConvertMnist, dataset.ConvertCifar,
		dataset.ConvertMnistSiamese, dataset.ComputeImageMean, dataset.GetImageSize, dataset.ImageInfo),
	cli.Group("convert and format nets",
		model.ExportONNX, model.ImportONNX, model.ExportWeights, model.ImportWeights, model.Fmt, model.UpgradeNetText, model.UpgradeNetBinary, model.UpgradeSolverText),
	cli.Group("look at nets and runs", model.DrawNet, logs.PlotLog, logs.ParseLog, logs.Board),
	cli.Group("the program itself", cli.InstallLinks, cli.Completion, cli.Manual, cli.Version),
)
