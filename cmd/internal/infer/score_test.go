package infer

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
	"github.com/swcaffe/swcaffe/cmd/internal/scoretest"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/evaluate"
	"github.com/swcaffe/swcaffe/topology"
	"google.golang.org/protobuf/proto"
)

// scored returns what a number of workers print of 7 batches of a net.
func scored(t *testing.T, text string, workers int) []string {
	t.Helper()
	var log bytes.Buffer
	e := &cli.Env{Log: logrus.New(), Stdout: io.Discard, Stderr: io.Discard, Tables: io.Discard}
	e.Log.SetOutput(&log)
	net, weights := scoretest.Write(t, text)
	err := topology.NewLocal(workers).Run(func(w topology.Transport) error {
		d := cli.DeviceFlags{EngineName: "cpe", MachineName: "host"}
		return score(e, trained{device: &d, model: net, weights: weights, seed: uint64(3 + w.Rank())}, evaluate.Method{}, &testOptions{iterations: 7}, w)
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

// TestScoredTogether: several workers print the same results as one, even for nets whose batches continue from the batch before.
func TestScoredTogether(t *testing.T) {
	for text, values := range map[string]int{scoretest.Net: 1 + 4*3, scoretest.Carried: 1 + 4*3 + 4} {
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

// TestFirstBadBatch: of several unreadable batches the first is reported, whatever the other workers do meanwhile.
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
	_, weights := scoretest.Write(t, scoretest.Net)
	if err != nil {
		t.Fatal(err)
	}
	e := &cli.Env{Log: layers.NoLog(), Stdout: io.Discard, Stderr: io.Discard, Tables: io.Discard}
	err = topology.NewLocal(3).Run(func(w topology.Transport) error {
		d := cli.DeviceFlags{EngineName: "cpe", MachineName: "host"}
		return score(e, trained{device: &d, model: net, weights: weights, seed: 3}, evaluate.Method{}, &testOptions{iterations: 12}, w)
	})
	if err == nil || !strings.Contains(err.Error(), "rank 2: batch 5:") || !strings.Contains(err.Error(), "5.png") {
		t.Errorf("got %v, want rank 2's error about 5.png", err)
	}
}

// TestScoredByOthers: workers that would score other batches, or by other weights, are refused with both.
func TestScoredByOthers(t *testing.T) {
	net, weights := scoretest.Write(t, scoretest.Net)
	text, err := os.ReadFile(net)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	other := func(name, from, to string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), from, to)), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	layer := &caffepb.LayerParameter{Name: proto.String("ip"), Blobs: []*caffepb.BlobProto{{Shape: &caffepb.BlobShape{Dim: []int64{3, 5}}, Data: make([]float32, 15)}}}
	layer.Blobs = append(layer.Blobs, &caffepb.BlobProto{Shape: &caffepb.BlobShape{Dim: []int64{3}}, Data: make([]float32, 3)})
	zeros := filepath.Join(folder, "zeros.caffemodel")
	if err := swproto.WriteBinary(zeros, &caffepb.NetParameter{Layer: []*caffepb.LayerParameter{layer}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		net, weights string
		iterations   int
		want         string
	}{
		{net, weights, 7, ""},
		{other("moved", "no such text", ""), weights, 7, ""},
		{net, weights, 8, "rank 0 has -iterations 7, rank 1 has -iterations 8"},
		{other("batch", "batch_size: 4", "batch_size: 5"), weights, 7, `rank 0 has layer "data": batch_size: 4, rank 1 has layer "data": batch_size: 5`},
		{other("loss", "loss_weight: 2", "loss_weight: 3"), weights, 7, `rank 0 has layer "loss": loss_weight: 2, rank 1 has layer "loss": loss_weight: 3`},
		{net, zeros, 7, `rank 0 has layer "ip", param 0: values with the checksum `},
	} {
		err := topology.NewLocal(2).Run(func(w topology.Transport) error {
			d := cli.DeviceFlags{EngineName: "cpe", MachineName: "host"}
			e := &cli.Env{Log: layers.NoLog(), Stdout: io.Discard, Stderr: io.Discard, Tables: io.Discard}
			mine, o := trained{device: &d, model: net, weights: weights}, &testOptions{iterations: 7}
			if w.Rank() == 1 {
				mine.model, mine.weights, o.iterations = c.net, c.weights, c.iterations
			}
			return score(e, mine, evaluate.Method{}, o, w)
		})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
