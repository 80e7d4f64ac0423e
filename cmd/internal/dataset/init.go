package dataset

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// Init is the command init.
var Init = cli.Command{
	Name:     "init",
	Synopsis: "prepare a training on images of your own: databases, mean, nets, solver",
	Args:     "DIR [IMAGES] [-net NAME] [-weights FILES] [-size N] [-crop N] [-test_share S] [-force]",
	Example:  "swcaffe init pets photos/",
	Words:    []string{"out", "images"},
	Help: `Prepares a training in the folder DIR and prints the commands that train, test and classify. IMAGES is a folder with a folder of
images for each class, or a CSV file whose lines are an image's path, seen from the CSV's folder, and its class. Without IMAGES, init asks on the
terminal. DIR gets

  train_lmdb, test_lmdb    the images, scaled to one size and in a random order; the same seed gives the same order
  mean.binaryproto         the mean of the training images
  labels.txt               the names of the classes
  train_val.prototxt       the net for training and testing; deploy.prototxt, for classifying
  solver.prototxt          the solver; its counts follow from the number of images

The net follows from the images' size, or is named by -net:

  lenet           up to 28 pixels, the median of the shorter sides
  cifar10_quick   up to 48
  resnet8         larger ones

All are models of the folder models/, with as many outputs as there are classes. -net also takes a net definition for deployment (.prototxt) with
one Input layer; its last InnerProduct or Convolution layer gets an output for each class. All can be edited before the training. -weights
begins the training with weights of the same net: that last layer is new, and the others learn at a tenth of the usual rate.

Paths in the files begin where init was called. A file that is no image is named in the log, counted and left out. So is a file that shows
the same picture as another one of its class, and all files that show a picture of several classes.`,
	Do: cli.With(initFlags, initTraining),
}

func initFlags(fs *flag.FlagSet, o *initOptions) {
	cli.StringVar(fs, &o.out, "out", "", "the folder `DIR` to prepare", cli.Folder)
	cli.StringVar(fs, &o.images, "images", "", "the `FOLDER` of classes, or the CSV file, with the images", cli.AnyFile)
	cli.StringVar(fs, &o.net, "net", autoNet, "the net: auto, lenet, cifar10_quick, resnet8, or the `FILE` of a net for deployment", cli.OneOf("auto", "lenet", "cifar10_quick", "resnet8").OrFiles(cli.Prototxt))
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights to begin with: .caffemodel `FILES`, separated by commas", cli.Weights)
	fs.IntVar(&o.size, "size", 0, "height and width of images in the databases; 0: as the net has them")
	fs.IntVar(&o.crop, "crop", 0, "height and width of the net's input: a random part of the image in training, its middle in tests; 0: the whole image")
	fs.BoolVar(&o.gray, "gray", false, "treat images as grey; without the flag, they are if all files are")
	fs.BoolVar(&o.strict, "strict", false, "leave damaged images out too, which otherwise are read as far as they go")
	fs.BoolVar(&o.mirror, "mirror", false, "mirror training images at random, for classes that do not tell left from right")
	fs.Float64Var(&o.testShare, "test_share", 0.2, "the share of each class's images that is kept for tests")
	fs.IntVar(&o.iterations, "iterations", 0, "iterations of the training; 0: by the number of images")
	fs.Uint64Var(&o.seed, "seed", 1, "the seed of the images' order and of the training")
	fs.BoolVar(&o.force, "force", false, "replace these files in DIR")
}

type initOptions struct {
	out, images, net, weights string
	size, crop                int
	gray, mirror, strict      bool
	testShare                 float64
	iterations                int
	seed                      uint64
	force                     bool
	interrupted               context.Context
}

// Names of init's outputs in its folder.
const (
	trainDB    = "train_lmdb"
	testDB     = "test_lmdb"
	meanFile   = "mean.binaryproto"
	labelsFile = "labels.txt"
	netFile    = "train_val.prototxt"
	deployFile = "deploy.prototxt"
	solverFile = "solver.prototxt"
)

var initOutputs = []string{trainDB, testDB, meanFile, labelsFile, netFile, deployFile, solverFile}

func initTraining(e *cli.Env, o *initOptions) error {
	if o.out == "" {
		return cli.Usagef("need a folder to prepare: swcaffe init DIR [IMAGES]")
	}
	if err := o.check(); err != nil {
		return err
	}
	if err := o.ask(e); err != nil {
		return err
	}
	var stop context.CancelFunc
	o.interrupted, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	plan, err := o.plan(e)
	if err != nil {
		return o.explained(err)
	}
	if err := o.publish(func(folder string) error { return plan.write(e, folder) }); err != nil {
		return o.explained(err)
	}
	plan.tell(e)
	return nil
}

// explained replaces an error that an interrupt has caused.
func (o *initOptions) explained(err error) error {
	if o.interrupted.Err() != nil {
		return fmt.Errorf("interrupted; nothing was left behind in %s", o.out)
	}
	return err
}

// check checks the flags, and that no output is there unless -force permits it.
func (o *initOptions) check() error {
	switch {
	case o.size != 0 && (o.size < leastSide || o.size > mostInitSide):
		return cli.Usagef("-size %d: must be %d to %d, or 0", o.size, leastSide, mostInitSide)
	case o.crop != 0 && (o.crop < leastSide || o.crop > mostInitSide):
		return cli.Usagef("-crop %d: must be %d to %d, or 0", o.crop, leastSide, mostInitSide)
	case !(o.testShare > 0 && o.testShare < 1):
		return cli.Usagef("-test_share %g: must be between 0 and 1", o.testShare)
	case o.iterations < 0:
		return cli.Usagef("-iterations %d: cannot be negative", o.iterations)
	}
	if o.net != autoNet && !namesFile(o.net) {
		if _, err := zoo.Find(o.net); err != nil {
			return cli.FlagError("net", err)
		}
	}
	if err := cli.CheckFolder(o.out, "the result of init"); err != nil {
		return err
	}
	for _, name := range initOutputs {
		path := filepath.Join(o.out, name)
		if _, err := os.Lstat(path); err == nil && !o.force {
			return fmt.Errorf("%s exists already; -force replaces it", path)
		}
	}
	return nil
}

// ask asks for the images and the net unless flags name the images.
func (o *initOptions) ask(e *cli.Env) (err error) {
	if o.images != "" {
		return nil
	}
	if !cli.CanAsk() {
		return cli.Usagef("need images, a folder with a folder for each class or a CSV file: swcaffe init DIR IMAGES")
	}
	o.images, err = e.Ask("Folder with a folder of images for each class, or CSV file of paths and classes", "", func(path string) error {
		_, err := os.Stat(path)
		return err
	})
	if err != nil || o.net != autoNet {
		return err
	}
	o.net, err = e.Ask("Net: auto, lenet, cifar10_quick or resnet8", autoNet, func(name string) error {
		if name == autoNet {
			return nil
		}
		_, err := zoo.Find(name)
		return err
	})
	return err
}

// publish calls write with a temporary folder, and gives the outputs in it their names. If DIR is new, it appears with all of them at once.
func (o *initOptions) publish(write func(folder string) error) error {
	target, whole := o.out, true
	if info, err := os.Stat(o.out); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is no folder", o.out)
		}
		target, whole = filepath.Join(o.out, "init"), false
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temporary, err := cli.NewTemporary(target)
	if err != nil {
		return err
	}
	if err := write(temporary.Path); err != nil {
		return errors.Join(err, temporary.Remove())
	}
	if whole {
		if err := cli.Publish(temporary.Path, filepath.Clean(o.out)); err != nil {
			return errors.Join(err, temporary.Remove())
		}
		return temporary.Release()
	}
	for _, name := range initOutputs {
		if err == nil {
			err = output{filepath.Join(o.out, name), filepath.Join(temporary.Path, name)}.publish(o.force)
		}
	}
	return errors.Join(err, temporary.Remove())
}
