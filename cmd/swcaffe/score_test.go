package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/topology"
	"google.golang.org/protobuf/proto"
)

// scoredNet reads rows in random order, %s is their list: workers whose seeds differ would read others.
const scoredNet = `
layer { name: "data" type: "HDF5Data" top: "x" top: "t" hdf5_data_param { source: %q batch_size: 4 shuffle: true } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "prob" type: "Softmax" bottom: "y" top: "prob" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "loss" loss_weight: 2 }
`

// carriedNet makes sequences of them that go on from batch to batch.
const carriedNet = scoredNet + `
layer { name: "cont" type: "Threshold" bottom: "t" top: "cont" }
layer { name: "steps" type: "Reshape" bottom: "x" top: "steps" reshape_param { shape { dim: 2 dim: 2 dim: 5 } } }
layer { name: "conts" type: "Reshape" bottom: "cont" top: "conts" reshape_param { shape { dim: 2 dim: 2 } } }
layer { name: "lstm" type: "LSTM" bottom: "steps" bottom: "conts" top: "h" recurrent_param { num_output: 1 weight_filler { type: "xavier" } } }
`

// writeScored writes a net, eleven rows and a model that leaves what fillers have made.
func writeScored(t *testing.T, text string) (net, weights string) {
	t.Helper()
	dir := t.TempDir()
	const rows, values = 11, 5
	x, labels := make([]float32, rows*values), make([]float32, rows)
	for i := range x {
		x[i] = float32(i*i%17) / 17
		labels[i/values] = float32(i % 3)
	}
	err := hdf5.Write(filepath.Join(dir, "rows.h5"), &hdf5.File{Floats: []hdf5.Dataset{{Path: "/x", Shape: []int{rows, values}, Data: x}, {Path: "/t", Shape: []int{rows}, Data: labels}}})
	model, failed := proto.Marshal(&caffepb.NetParameter{Layer: []*caffepb.LayerParameter{{Name: proto.String("prob")}}})
	err = errors.Join(err, failed)
	for name, text := range map[string]string{
		"list": filepath.Join(dir, "rows.h5"), "net.prototxt": fmt.Sprintf(text, filepath.Join(dir, "list")), "none.caffemodel": string(model),
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "net.prototxt"), filepath.Join(dir, "none.caffemodel")
}

// scored returns what a number of workers print of 7 batches of a net.
func scored(t *testing.T, text string, workers int) []string {
	t.Helper()
	var log bytes.Buffer
	e := &env{log: logrus.New(), stdout: io.Discard, stderr: io.Discard, tables: io.Discard}
	e.log.SetOutput(&log)
	net, weights := writeScored(t, text)
	err := topology.NewLocal(workers).Run(func(w topology.Transport) error {
		d := deviceFlags{engineName: "cpe", machineName: "host"}
		return score(e, trained{device: &d, model: net, weights: weights, seed: uint64(3 + w.Rank())}, 7, w)
	})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(log.String()) {
		if _, text, ok := strings.Cut(line, "msg="); ok && strings.Contains(text, " = ") || strings.Contains(text, "Loss: ") {
			lines = append(lines, text)
		}
	}
	return lines
}

// TestScoredTogether: workers that run the batches in turn print what one prints, where a batch goes on from the one before, too.
func TestScoredTogether(t *testing.T) {
	for text, values := range map[string]int{scoredNet: 1 + 4*3, carriedNet: 1 + 4*3 + 4} {
		want := scored(t, text, 1)
		if len(want) != 8*values+1 {
			t.Fatalf("one worker prints\n%s", strings.Join(want, ""))
		}
		for _, workers := range []int{2, 3, 9} {
			if got := scored(t, text, workers); strings.Join(got, "") != strings.Join(want, "") {
				t.Errorf("%d workers print\n%s, want\n%s", workers, strings.Join(got, ""), strings.Join(want, ""))
			}
		}
	}
}

// TestFirstBadBatch: of batches that cannot be read the first one is reported, whatever a worker that has another one does meanwhile.
func TestFirstBadBatch(t *testing.T) {
	dir := t.TempDir()
	var picture bytes.Buffer
	err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2)))
	list := ""
	for i := range 12 {
		name := fmt.Sprintf("%d.png", i)
		if i != 5 && i != 7 { // batch 5 is of rank 2, batch 7 of rank 1
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), picture.Bytes(), 0o644))
		}
		list += name + " 0\n"
	}
	net := filepath.Join(dir, "net.prototxt")
	text := fmt.Sprintf(`layer { name: "data" type: "ImageData" top: "x" top: "t" image_data_param { source: %q root_folder: %q batch_size: 1 } }`, filepath.Join(dir, "list"), dir+"/")
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "list"), []byte(list), 0o644), os.WriteFile(net, []byte(text), 0o644))
	_, weights := writeScored(t, scoredNet)
	if err != nil {
		t.Fatal(err)
	}
	e := &env{log: quietLog(), stdout: io.Discard, stderr: io.Discard, tables: io.Discard}
	err = topology.NewLocal(3).Run(func(w topology.Transport) error {
		d := deviceFlags{engineName: "cpe", machineName: "host"}
		return score(e, trained{device: &d, model: net, weights: weights, seed: 3}, 12, w)
	})
	if err == nil || !strings.Contains(err.Error(), "rank 2: batch 5:") || !strings.Contains(err.Error(), "5.png") {
		t.Errorf("got %v, want rank 2's error about 5.png", err)
	}
}
