package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/swcaffe/swcaffe/data/characters"
	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/data/points"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// hdf5Outputs are the HDF5 files of both parts, and the lists of files for HDF5Data layers.
var hdf5Outputs = []string{"train.h5", "test.h5", "train.txt", "test.txt"}

// fixed is the outputs function of kinds that always have the same outputs.
func fixed(names []string) func(*datasetOptions) []string {
	return func(*datasetOptions) []string { return names }
}

var pointsKind = datasetKind{name: "points", items: "points", outputs: fixed(hdf5Outputs), write: writePoints}

var textKind = datasetKind{name: "text", items: "characters", outputs: fixed(hdf5Outputs), write: writeText, flags: []string{"text", "streams"}}

// writeRows writes a part's datasets, and the list file with the name of its HDF5 file.
func writeRows(j *datasetJob, part string, sets ...hdf5.Dataset) error {
	if err := hdf5.Write(j.temporary(part+".h5"), &hdf5.File{Floats: sets}); err != nil {
		return err
	}
	return swproto.WriteFileAtomic(j.temporary(part+".txt"), func(f *os.File) error {
		_, err := fmt.Fprintln(f, j.outputs[part+".h5"].path)
		return err
	})
}

// writePoints writes the datasets data (points x 4) and label for both parts.
func writePoints(ctx context.Context, j *datasetJob) error {
	for _, p := range j.parts() {
		j.Log.Infof("Drawing %d %s points, seed %d, into %s", p.n, p.name, j.seed, j.outputs[p.name+".h5"].path)
		data, labels, err := drawPoints(ctx, j, p)
		if err != nil {
			return err
		}
		err = writeRows(j, p.name, hdf5.Dataset{Path: "/data", Shape: []int{p.n, points.Coordinates}, Data: data},
			hdf5.Dataset{Path: "/label", Shape: []int{p.n}, Data: labels})
		if err != nil {
			return err
		}
	}
	return nil
}

func drawPoints(ctx context.Context, j *datasetJob, p part) (data, labels []float32, err error) {
	if err := pages.Room(4 * float64(p.n) * (points.Coordinates + 1)); err != nil {
		return nil, nil, fmt.Errorf("-%s %d: %w", p.name, p.n, err)
	}
	data, labels = make([]float32, 0, p.n*points.Coordinates), make([]float32, 0, p.n)
	bar := cli.NewProgress(j.Stderr, p.n, p.name+" points")
	defer bar.Finish()
	var point points.Point
	for at := range p.n {
		if at%renderBatch == 0 && ctx.Err() != nil {
			return nil, nil, fmt.Errorf("interrupted after %d of %d %s points; nothing was left behind", at, p.n, p.name)
		}
		points.Draw(j.seed, p.first+uint64(at), &point)
		data, labels = append(data, point.Coordinates[:]...), append(labels, float32(point.Label))
		bar.Add(1)
	}
	return data, labels, nil
}

// writeText writes the datasets input, target and cont (steps x streams) for both parts. The training part is the beginning of
// the text; the test part follows it.
func writeText(_ context.Context, j *datasetJob) error {
	text, err := firstBytes(j.text, 2*(j.train+j.test)) // twice as many bytes, in case every character is a two-byte line end
	if err != nil {
		return fmt.Errorf("-text: %w", err)
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if len(text) < j.train+j.test {
		return fmt.Errorf("-train %d -test %d: %s has %d characters", j.train, j.test, j.text, len(text))
	}
	for _, p := range []struct {
		name     string
		from, to int
	}{{"train", 0, j.train}, {"test", j.train, j.train + j.test}} {
		s, err := characters.Split(text[p.from:p.to], j.streams)
		if err != nil {
			return fmt.Errorf("%s, from character %d on: %w", j.text, p.from, err)
		}
		j.Log.Infof("Writing %d %s characters of %s as %d streams of %d into %s", s.Steps*s.N, p.name, j.text, s.N, s.Steps, j.outputs[p.name+".h5"].path)
		shape := []int{s.Steps, s.N}
		err = writeRows(j, p.name, hdf5.Dataset{Path: "/input", Shape: shape, Data: s.Input},
			hdf5.Dataset{Path: "/target", Shape: shape, Data: s.Target}, hdf5.Dataset{Path: "/cont", Shape: shape, Data: s.Cont})
		if err != nil {
			return err
		}
	}
	return nil
}

// firstBytes returns at most n bytes of a file, which may be a pipe or a device.
func firstBytes(path string, n int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(n)))
}
