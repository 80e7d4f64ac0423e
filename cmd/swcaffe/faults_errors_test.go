//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// faultyNet reads the images of a list, of which a fault has spoiled one.
const faultyNet = `
net_param {
  layer { name: "data" type: "ImageData" top: "x" top: "t" image_data_param { source: "images.txt" root_folder: "images/" batch_size: 2 new_height: 9 new_width: 9 } }
  layer { name: "conv" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 5 kernel_size: 3 weight_filler { type: "xavier" } } }
  layer { name: "bn" type: "BatchNorm" bottom: "c" top: "b" }
  layer { name: "drop" type: "Dropout" bottom: "b" top: "b" }
  layer { name: "ip" type: "InnerProduct" bottom: "b" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "loss" }
}
base_lr: 0.001 momentum: 0.9 lr_policy: "fixed" random_seed: 5 snapshot_prefix: "s" max_iter: 40 `

// errors spoils a line of the list, by a label out of range or a file that is no image, and demands that the error leaves a snapshot of the last whole
// iteration, from which the run with the mended list gets the bits of one without the fault.
func (c *faultCase) errors() {
	c.t.Helper()
	c.writeSources(c.dir)
	size, bad := 1+c.rng.IntN(2), 4+c.rng.IntN(56)
	write(c.t, filepath.Join(c.dir, "solver.prototxt"), faultyNet+fmt.Sprintf("iter_size: %d\n", size))
	if strings.Contains(c.way, "easgd") { // whose workers read batches of their own, or start from the centre
		c.way = ""
	}
	list := filepath.Join(c.dir, "images.txt")
	text, err := os.ReadFile(list)
	if err != nil {
		c.t.Fatal(err)
	}
	if out, err := c.command(nil).CombinedOutput(); err != nil {
		c.t.Fatalf("%s\n%s", err, out)
	}
	want := digests(c.t, c.dir)
	for _, name := range []string{"s_iter_40.caffemodel", faultState(40)} {
		os.Remove(filepath.Join(c.dir, name))
	}
	lines := strings.Split(string(text), "\n")
	lines[bad] = []string{strings.Fields(lines[bad])[0] + " 3", "../images.txt 1"}[c.rng.IntN(2)]
	write(c.t, list, strings.Join(lines, "\n"))
	last := bad / (2 * size)
	c.note = fmt.Sprintf("line %d is %q, iter_size %d", bad+1, lines[bad], size)
	text2, err := c.command(nil).CombinedOutput()
	out := string(text2)
	c.end = ending(err)
	c.noDump(out)
	state := faultState(last)
	if err == nil || !strings.Contains(out, fmt.Sprintf("What was trained up to iteration %d is in %s", last, state)) || !exists(filepath.Join(c.dir, state)) {
		c.errorf(out, "%v, without a snapshot of iteration %d", err, last)
		return
	}
	write(c.t, list, string(text))
	again, err := c.command(nil, "-snapshot", state).CombinedOutput()
	now := digests(c.t, c.dir)
	for _, name := range []string{"s_iter_40.caffemodel", faultState(40)} {
		if err != nil || now[name] != want[name] {
			c.errorf(out+"\nresumed:\n"+string(again), "resumed from %d: %v, %s is not as without the fault", last, err, name)
		}
	}
}
