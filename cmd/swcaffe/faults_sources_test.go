//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A source is what a training reads while its files get shorter.
type source struct {
	name   string
	make   string // a command line that makes it of what writeSources writes; "" where that will do
	data   string // the layer that reads it
	files  string // a pattern of its files
	inputs string // what else the command line has
}

const sourceTransform = `transform_param { scale: 0.004 }`

var sources = []source{
	{name: "LMDB", make: "convert_mnist_data images.idx labels.idx out_lmdb", files: "out_lmdb/data.mdb",
		data: `type: "Data" data_param { source: "out_lmdb" backend: LMDB batch_size: 50 } ` + sourceTransform},
	{name: "LevelDB", make: "convert_mnist_data -backend leveldb images.idx labels.idx out_leveldb", files: "out_leveldb/*",
		data: `type: "Data" data_param { source: "out_leveldb" backend: LEVELDB batch_size: 50 } ` + sourceTransform},
	{name: "HDF5", make: "dataset points -out . -train 20000 -test 15000", files: "points_*.h5",
		data: `type: "HDF5Data" hdf5_data_param { source: "both.txt" batch_size: 200 }`},
	{name: "images", files: "images/*.png",
		data: `type: "ImageData" image_data_param { source: "images.txt" root_folder: "images/" batch_size: 10 is_color: false } ` + sourceTransform},
	{name: "weights", make: "train -solver first.prototxt", files: "first_iter_1.caffemodel", inputs: "-weights first_iter_1.caffemodel"},
	{name: "state", make: "train -solver first.prototxt", files: "first_iter_1.*", inputs: "-snapshot first_iter_1.solverstate"},
}

// sourceNet reads a source; %d outputs of its hidden layer make its weights a short file or one of some MB.
const sourceNet = `
net_param {
  layer { name: "data" top: "data" top: "label" %s }
  layer { name: "h" type: "InnerProduct" bottom: "data" top: "h" inner_product_param { num_output: %d weight_filler { type: "xavier" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "h" top: "y" inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "label" top: "loss" }
}
base_lr: 0.0001 momentum: 0.9 lr_policy: "fixed" random_seed: 5 display: 50
`

// drawn is a data layer that reads nothing.
const drawn = `type: "DummyData" dummy_data_param { shape { dim: 4 dim: 1000 } shape { dim: 4 } data_filler { type: "gaussian" } data_filler { type: "constant" } }`

// shorten cuts a file at a random place while a training reads it. The training ends well, or with an error that names the file.
func (c *faultCase) shorten() {
	s := sources[c.rng.IntN(len(sources))]
	c.way = s.name
	c.writeSources(c.dir)
	write(c.t, filepath.Join(c.dir, "both.txt"), "points_train.h5\npoints_test.h5\n")
	text := fmt.Sprintf(sourceNet, s.data, 20) + `snapshot_after_train: false max_iter: 300`
	if s.data == "" {
		text = fmt.Sprintf(sourceNet, drawn, 600)
		write(c.t, filepath.Join(c.dir, "first.prototxt"), text+`max_iter: 1 snapshot_prefix: "first"`)
		text += `snapshot_after_train: false max_iter: 3`
	}
	write(c.t, filepath.Join(c.dir, "solver.prototxt"), text)
	if s.make != "" {
		if out, err := c.run(c.dir, s.make); err != nil {
			c.t.Fatalf("%s: %v\n%s", s.make, err, out)
		}
	}
	line := strings.TrimSpace("train -solver solver.prototxt " + s.inputs)
	if c.took[s.name] == 0 {
		begin := time.Now()
		if out, err := c.run(c.dir, line); err != nil {
			c.t.Fatalf("%s: %v\n%s", line, err, out)
		}
		c.took[s.name] = time.Since(begin)
	}
	var out bytes.Buffer
	cmd := exec.Command(c.binary, strings.Fields(line)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &out, &out
	c.start(cmd, c.took[s.name])
	cut := c.cut(s)
	err := cmd.Wait()
	c.end = ending(err)
	c.noDump(out.String())
	failed := (*exec.ExitError)(nil)
	switch {
	case err == nil:
	case !errors.As(err, &failed) || failed.Sys().(syscall.WaitStatus).Signaled() || failed.ExitCode() != 1:
		c.errorf(out.String(), "%v, want exit code 1", err)
	case !strings.Contains(out.String(), cut):
		c.errorf(out.String(), "the error does not name %s", cut)
	}
}

// cut truncates one of a source's files and returns its name. For LevelDB, which chooses its own file names, it returns the
// folder's.
func (c *faultCase) cut(s source) string {
	files, err := filepath.Glob(filepath.Join(c.dir, s.files))
	if err != nil || len(files) == 0 {
		c.t.Fatalf("%s: no files, %v", s.files, err)
	}
	file := files[c.rng.IntN(len(files))]
	info, err := os.Stat(file)
	if err != nil {
		c.t.Fatal(err)
	}
	size := c.rng.Int64N(info.Size() + 1)
	c.note = fmt.Sprintf("%s is cut to %d of %d bytes", strings.TrimPrefix(file, c.dir), size, info.Size())
	if err := os.Truncate(file, size); err != nil {
		c.t.Fatal(err)
	}
	if strings.HasPrefix(s.name, "L") {
		return filepath.Base(filepath.Dir(file))
	}
	return filepath.Base(file)
}
