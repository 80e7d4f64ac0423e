// Package all lists swcaffe's commands. The binary (cmd/swcaffe) and the library behind the Python module (cmd/libswcaffe) run them from
// here.
//
// Each command is a cli.Command with a file of its own in one of these packages:
//
//	train    train, alone or with many workers, finetune and lr_find
//	infer    test, classify, detect, extract_features: trained nets
//	measure  time, explore and other measurements and models of machines and clusters
//	model    nets, solvers and weights as files: draw_net, fmt, upgrade_*, export_onnx, import_onnx, check, verify
//	dataset  convert_*, compute_image_mean, get_image_size, dataset, init
//	logs     parse_log, plot_log, board
//
// They import internal/cli and libraries, never each other.
package all

import (
	"github.com/swcaffe/swcaffe/cmd/internal/dataset"
	"github.com/swcaffe/swcaffe/cmd/internal/infer"
	"github.com/swcaffe/swcaffe/cmd/internal/logs"
	"github.com/swcaffe/swcaffe/cmd/internal/measure"
	"github.com/swcaffe/swcaffe/cmd/internal/model"
	"github.com/swcaffe/swcaffe/cmd/internal/train"
	"github.com/swcaffe/swcaffe/internal/cli"
)

// Commands lists the commands in the order of "swcaffe help".
var Commands = cli.Commands{
	train.Train,
	train.Finetune,
	train.LRFind,
	model.Check,
	infer.Test,
	measure.Time,
	measure.Explore,
	measure.DeviceQuery,
	measure.Bandwidth,
	model.Verify,
	measure.AllReduce,
	measure.Scale,
	dataset.Dataset,
	dataset.Init,
	dataset.ConvertImageset,
	dataset.ConvertAnnoset,
	dataset.GetImageSize,
	dataset.ComputeImageMean,
	infer.Detect,
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
	logs.Board,
	model.DrawNet,
	model.Fmt,
	model.ExportONNX,
	model.ImportONNX,
	cli.InstallLinks,
	cli.Version,
}
