package judge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// blobKey identifies a weight: its layer and its index there.
type blobKey struct {
	layer string
	index int
}

func (k blobKey) String() string { return fmt.Sprintf("blob %d of %q", k.index, k.layer) }

// stored is a blob in a file.
type stored struct {
	shape  []int64
	values []float64
}

func readBlob(p *caffepb.BlobProto) stored {
	b := stored{shape: p.GetShape().GetDim(), values: p.DoubleData}
	if p.Shape == nil && p.Num != nil {
		b.shape = []int64{int64(p.GetNum()), int64(p.GetChannels()), int64(p.GetHeight()), int64(p.GetWidth())}
	}
	for _, v := range p.Data {
		b.values = append(b.values, float64(v))
	}
	return b
}

// readWeights reads a caffemodel, with current or V1 layers, by protobuf's own library.
func readWeights(path string) (map[blobKey]stored, error) {
	p := &caffepb.NetParameter{}
	if err := readMessage(path, p); err != nil {
		return nil, err
	}
	blobs := map[blobKey]stored{}
	add := func(layer string, protos []*caffepb.BlobProto) {
		for i, b := range protos {
			blobs[blobKey{layer, i}] = readBlob(b)
		}
	}
	for _, l := range p.Layers {
		add(l.GetName(), l.Blobs)
	}
	for _, l := range p.Layer {
		add(l.GetName(), l.Blobs)
	}
	return blobs, nil
}

func readMessage(path string, m proto.Message) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(data, m); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (e *Expected) judgeFiles(dir, work string) error {
	for _, file := range e.Files {
		if _, err := os.Stat(filepath.Join(work, file)); err != nil {
			return err
		}
	}
	if e.Snapshot != "" {
		if err := e.judgeSnapshot(dir, filepath.Join(work, e.Snapshot)); err != nil {
			return fmt.Errorf("%s: %w", e.Snapshot, err)
		}
	}
	if e.SolverState != "" {
		if err := e.judgeState(filepath.Join(dir, "expected.solverstate"), filepath.Join(work, e.SolverState)); err != nil {
			return fmt.Errorf("%s: %w", e.SolverState, err)
		}
	}
	if e.HDF5File != "" {
		return e.judgeHDF5(filepath.Join(work, e.HDF5File))
	}
	return nil
}

func (e *Expected) judgeSnapshot(dir, path string) error {
	got, err := readWeights(path)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "expected.caffemodel")
	if _, err := os.Stat(file); os.IsNotExist(err) {
		return nil // the file only has to exist
	}
	want, err := readWeights(file)
	if err != nil {
		return err
	}
	from := map[blobKey]stored{}
	if init := filepath.Join(dir, "init.caffemodel"); exists(init) {
		if from, err = readWeights(init); err != nil {
			return err
		}
	}
	for k, w := range want {
		g, ok := got[k]
		if !ok {
			return fmt.Errorf("%v is missing", k)
		}
		if err := e.tolerance().blob(k.String(), g, w); err != nil {
			return err
		}
		if f, ok := from[k]; ok && len(f.values) == len(w.values) {
			if err := e.tolerance().step(k.String(), f.values, g.values, w.values); err != nil {
				return err
			}
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			return fmt.Errorf("%v was not expected", k)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (t tolerance) blob(what string, got, want stored) error {
	if !slices.Equal(trim(got.shape), trim(want.shape)) {
		return fmt.Errorf("%s has shape %v, expected %v", what, got.shape, want.shape)
	}
	return t.list(what, got.values, want.values)
}

func (e *Expected) judgeState(expected, path string) error {
	got, want := &caffepb.SolverState{}, &caffepb.SolverState{}
	if err := first(readMessage(path, got), readMessage(expected, want)); err != nil {
		return err
	}
	if got.GetIter() != want.GetIter() || got.GetCurrentStep() != want.GetCurrentStep() || got.GetLearnedNet() != want.GetLearnedNet() {
		return fmt.Errorf("iteration %d, step %d, weights %q, expected %d, %d, %q", got.GetIter(), got.GetCurrentStep(), got.GetLearnedNet(),
			want.GetIter(), want.GetCurrentStep(), want.GetLearnedNet())
	}
	if len(got.History) != len(want.History) {
		return fmt.Errorf("%d histories, expected %d", len(got.History), len(want.History))
	}
	for i, w := range want.History {
		if err := e.tolerance().blob(fmt.Sprint("history ", i), readBlob(got.History[i]), readBlob(w)); err != nil {
			return err
		}
	}
	return nil
}

// judgeHDF5 reads with package hdf5, whose own tests compare it with h5dump.
func (e *Expected) judgeHDF5(path string) error {
	for name, want := range e.HDF5Datasets {
		w := stored{}
		if err := first(json.Unmarshal(want[0], &w.shape), json.Unmarshal(want[1], &w.values)); err != nil {
			return err
		}
		sets, err := hdf5.Read(path, func(set string) bool { return set == "/"+name })
		if err != nil {
			return err
		}
		if len(sets) != 1 {
			return fmt.Errorf("%s has %d datasets %s", path, len(sets), name)
		}
		g := stored{}
		for _, d := range sets[0].Shape {
			g.shape = append(g.shape, int64(d))
		}
		for _, v := range sets[0].Data {
			g.values = append(g.values, float64(v))
		}
		if err := e.tolerance().blob(name, g, w); err != nil {
			return err
		}
	}
	return nil
}
