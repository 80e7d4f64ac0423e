// Package scoretest makes nets and data for tests of the test command.
package scoretest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Net is a net that reads rows in random order; its verb takes the list of HDF5 files. Workers with different seeds would read
// different rows.
const Net = `
layer { name: "data" type: "HDF5Data" top: "x" top: "t" hdf5_data_param { source: %q batch_size: 4 shuffle: true } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "prob" type: "Softmax" bottom: "y" top: "prob" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "loss" loss_weight: 2 }
`

// Carried appends a recurrent layer whose state continues from batch to batch.
const Carried = Net + `
layer { name: "cont" type: "Threshold" bottom: "t" top: "cont" }
layer { name: "steps" type: "Reshape" bottom: "x" top: "steps" reshape_param { shape { dim: 2 dim: 2 dim: 5 } } }
layer { name: "conts" type: "Reshape" bottom: "cont" top: "conts" reshape_param { shape { dim: 2 dim: 2 } } }
layer { name: "lstm" type: "LSTM" bottom: "steps" bottom: "conts" top: "h" recurrent_param { num_output: 1 weight_filler { type: "xavier" } } }
`

// Write writes a net, eleven rows of data, and a model with weights of ip.
func Write(t *testing.T, text string) (net, weights string) {
	t.Helper()
	dir := t.TempDir()
	const rows, values = 11, 5
	x, labels := make([]float32, rows*values), make([]float32, rows)
	for i := range x {
		x[i] = float32(i*i%17) / 17
		labels[i/values] = float32(i % 3)
	}
	err := hdf5.Write(filepath.Join(dir, "rows.h5"), &hdf5.File{Floats: []hdf5.Dataset{{Path: "/x", Shape: []int{rows, values}, Data: x}, {Path: "/t", Shape: []int{rows}, Data: labels}}})
	ip := &caffepb.LayerParameter{Name: proto.String("ip"), Blobs: []*caffepb.BlobProto{{Shape: &caffepb.BlobShape{Dim: []int64{3, values}}}, {Shape: &caffepb.BlobShape{Dim: []int64{3}}, Data: make([]float32, 3)}}}
	for i := range 3 * values {
		ip.Blobs[0].Data = append(ip.Blobs[0].Data, float32(i*i%7-3)/4)
	}
	model, failed := proto.Marshal(&caffepb.NetParameter{Layer: []*caffepb.LayerParameter{ip}})
	err = errors.Join(err, failed)
	for name, text := range map[string]string{
		"list": filepath.Join(dir, "rows.h5"), "net.prototxt": fmt.Sprintf(text, filepath.Join(dir, "list")), "ip.caffemodel": string(model),
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "net.prototxt"), filepath.Join(dir, "ip.caffemodel")
}
