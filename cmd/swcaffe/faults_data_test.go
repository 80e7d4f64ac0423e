//go:build unix

package main

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// conversion holds what the faults in one way of making databases share.
type conversion struct {
	line    string
	again   string   // behind the line where a set may be there in part
	outputs []string // kinds of files
	whole   map[string][16]byte
	took    time.Duration
}

// convertWays are the command lines to test with faults, and their outputs.
var convertWays = []conversion{
	{line: "convert_imageset -resize_height 40 -resize_width 40 images/ images.txt out_lmdb", outputs: []string{"out_lmdb"}},
	{line: "convert_imageset -backend leveldb -encoded images/ images.txt out_leveldb", outputs: []string{"out_leveldb"}},
	{line: "convert_annoset -max_dim 40 -encode_type png images/ images.txt out_lmdb", outputs: []string{"out_lmdb"}},
	{line: "dataset objects -out . -train 60 -test 10 -files", again: " -force", outputs: []string{"objects_train_lmdb", "objects_test_lmdb", "objects_labelmap.prototxt"}},
	{line: "convert_mnist_data images.idx labels.idx out_lmdb", outputs: []string{"out_lmdb"}},
	{line: "convert_mnist_data -backend leveldb images.idx labels.idx out_leveldb", outputs: []string{"out_leveldb"}},
	{line: "dataset digits -out . -train 400 -test 100", again: " -force", outputs: []string{"digits_train_lmdb", "digits_test_lmdb", "digits_mean.binaryproto", "digits_labels.txt"}},
	{line: "init own images.csv", again: " -force", outputs: []string{"own/train_lmdb", "own/test_lmdb", "own/mean.binaryproto", "own/solver.prototxt"}},
	{line: "dataset points -out . -train 20000 -test 1000", again: " -force", outputs: []string{"points_train.h5", "points_test.h5"}},
}

// writeSources writes 60 images of 48x64, their list for convert_imageset and for init, and 3000 images of 28x28 with labels in the files of MNIST.
func (c *faultCase) writeSources(dir string) {
	rng := rand.New(rand.NewPCG(9, 0))
	if err := os.Mkdir(filepath.Join(dir, "images"), 0o755); err != nil {
		c.t.Fatal(err)
	}
	var list, classes strings.Builder
	for k := range 60 {
		im := image.NewGray(image.Rect(0, 0, 64, 48))
		for i := range im.Pix {
			im.Pix[i] = byte(rng.IntN(256))
		}
		var file bytes.Buffer
		if err := png.Encode(&file, im); err != nil {
			c.t.Fatal(err)
		}
		write(c.t, filepath.Join(dir, "images", fmt.Sprint(k, ".png")), file.String())
		fmt.Fprintf(&list, "%d.png %d\n", k, k%3)
		fmt.Fprintf(&classes, "images/%d.png,%d\n", k, k%3)
	}
	write(c.t, filepath.Join(dir, "images.txt"), list.String())
	write(c.t, filepath.Join(dir, "images.csv"), classes.String())
	const n = 3000
	header := func(axes ...uint32) []byte {
		text := binary.BigEndian.AppendUint32(nil, 0x800+uint32(len(axes)))
		for _, extent := range axes {
			text = binary.BigEndian.AppendUint32(text, extent)
		}
		return text
	}
	pixels, labels := header(n, 28, 28), header(n)
	for i := range n {
		for range 28 * 28 {
			pixels = append(pixels, byte(rng.IntN(256)))
		}
		labels = append(labels, byte(i%3))
	}
	write(c.t, filepath.Join(dir, "images.idx"), string(pixels))
	write(c.t, filepath.Join(dir, "labels.idx"), string(labels))
}

// run runs a command line of swcaffe in a folder.
func (c *faultCase) run(dir, line string) (string, error) {
	cmd := exec.Command(c.binary, strings.Fields(line)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// contents are the digests of what a conversion has made, by its name: of a database's records, or of a file.
func (w *conversion) contents(dir string) (map[string][16]byte, error) {
	all := map[string][16]byte{}
	for _, name := range w.outputs {
		path := filepath.Join(dir, name)
		if !exists(path) {
			continue
		}
		sum := md5.New()
		kind := name[strings.LastIndexAny(name, "_.")+1:]
		if kind != "lmdb" && kind != "leveldb" {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			sum.Write(text)
		} else if err := cli.EachRecord(path, kind, func(r *data.Record) error {
			fmt.Fprintf(sum, "%d %d ", len(r.Key), len(r.Raw))
			sum.Write(r.Key)
			sum.Write(r.Raw)
			return nil
		}); err != nil {
			return nil, err
		}
		all[name] = [16]byte(sum.Sum(nil))
	}
	return all, nil
}

// prepareConversion draws a way to make databases, and makes them without faults once.
func (c *faultCase) prepareConversion() *conversion {
	way := convertWays[c.rng.IntN(len(convertWays))]
	c.way = way.line
	c.writeSources(c.dir)
	if w := c.conversions[c.way]; w != nil {
		return w
	}
	dir := c.t.TempDir()
	c.writeSources(dir)
	begin := time.Now()
	out, err := c.run(dir, way.line)
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", way.line, err, out)
	}
	way.took = time.Since(begin)
	if way.whole, err = way.contents(dir); err != nil || len(way.whole) != len(way.outputs) {
		c.t.Fatalf("%s: %d of %d outputs, %v", way.line, len(way.whole), len(way.outputs), err)
	}
	c.conversions[c.way] = &way
	return &way
}

// convert kills or interrupts what makes a database, or fills the disk.
func (c *faultCase) convert() {
	w := c.prepareConversion()
	signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	k := c.rng.IntN(len(signals) + 2)
	if k >= len(signals) {
		c.convertToFullDisk(w)
		return
	}
	c.note = fmt.Sprint(signals[k])
	var out bytes.Buffer
	cmd := exec.Command(c.binary, strings.Fields(w.line)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &out, &out
	c.start(cmd, w.took)
	cmd.Process.Signal(signals[k])
	err := cmd.Wait()
	c.end = ending(err)
	failed, text, died := (*exec.ExitError)(nil), out.String(), false
	if errors.As(err, &failed) {
		died = failed.Sys().(syscall.WaitStatus).Signaled() && failed.Sys().(syscall.WaitStatus).Signal() == signals[k]
	}
	asked := signals[k] == syscall.SIGINT || signals[k] == syscall.SIGTERM
	switch {
	case err == nil, died: // an interrupt ends the process itself before anything is made
	case asked && failed != nil && failed.ExitCode() == 1 && strings.Contains(text, "interrupted") && (strings.Contains(text, "nothing was left behind") || strings.Contains(text, "marked as incomplete")):
	default:
		c.errorf(text, "%v", err)
	}
	c.judgeConversion(w, text, err == nil, died && !asked)
}

func (c *faultCase) convertToFullDisk(w *conversion) {
	behind := c.fullDisk(600, 12, "fsync", "renameat2", "pwrite64", "write", "ftruncate")
	c.note = strings.Join(behind, " ")
	line := append(behind, append([]string{c.binary}, strings.Fields(w.line)...)...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = c.dir
	text, err := cmd.CombinedOutput()
	c.end = "full disk: " + ending(err)
	if err != nil {
		c.saysDiskFull(string(text), err, w.outputs[0][:strings.IndexAny(w.outputs[0], "_")+1])
	}
	c.judgeConversion(w, string(text), err == nil, false)
}

// judgeConversion demands that each database is whole or absent, and after another run all are whole, and no temporary folder is left.
func (c *faultCase) judgeConversion(w *conversion, out string, success, mayLeave bool) {
	c.t.Helper()
	c.noDump(out)
	compare := func(all bool) (found int) {
		made, err := w.contents(c.dir)
		if err != nil || all && len(made) != len(w.outputs) {
			c.errorf(out, "%d of %d outputs, %v", len(made), len(w.outputs), err)
		}
		for name, digest := range made {
			if digest != w.whole[name] {
				c.errorf(out, "%s is not as without a fault", name)
			}
		}
		return len(made)
	}
	temporary := func() (left []string) {
		left, _ = filepath.Glob(filepath.Join(c.dir, ".*.tmp"))
		return left
	}
	found := compare(success)
	if left := temporary(); len(left) > 0 && !mayLeave {
		c.errorf(out, "%q is left", left)
	}
	again, err := c.run(c.dir, w.line+w.again)
	out += "\nagain:\n" + again
	exists := err != nil && w.again == "" && found == 1 && strings.Contains(again, "exists already")
	if err != nil && !exists {
		c.errorf(out, "the next run: %v", err)
	}
	compare(true)
	if left, _ := filepath.Glob(filepath.Join(c.dir, "*.incomplete")); len(left) > 0 && !exists {
		c.errorf(out, "%q is left after the next run", left)
	}
	if left := temporary(); len(left) > 0 && !exists {
		c.errorf(out, "%q is left after the next run", left)
	}
}
