package data

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "HDF5Output", Doc: "writes its two bottoms to the datasets data and label of an HDF5 file",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &hdf5Output{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(0), NoGradient: true, Effects: layers.Effect("writes its bottoms to a file"),
	})
}

// outputSets names the datasets of the two bottoms.
var outputSets = [2]string{"/data", "/label"}

// hdf5Output is Caffe's HDF5Output layer. It appends every batch to the datasets, while Caffe's stops at the second batch. As in Caffe,
// datasets have four axes. The layer rewrites the file whenever the number of rows has doubled, and when the net is closed, so that writing
// takes little of a long run.
type hdf5Output struct {
	layers.Base
	rows    [2][]float32 // of all batches
	stage   [2][]float32 // one batch
	shape   [2][]int     // shape of a row
	batch   int          // number of rows of a batch
	count   int          // number of rows
	written int
	copies  [2]part.Mover
}

func (l *hdf5Output) SetUp(_, _ []*blob.Blob) error {
	if l.Param.GetHdf5OutputParam().GetFileName() == "" {
		return errors.New("hdf5_output_param: file_name is not set")
	}
	return nil
}

func (l *hdf5Output) Reshape(bottom, _ []*blob.Blob) error {
	for i, b := range bottom {
		shape := slices.Clone(b.Shape())
		if len(shape) > 4 {
			return fmt.Errorf("bottom %d has %d axes, HDF5Output writes at most 4: %s", i, len(shape), b.ShapeString())
		}
		for len(shape) < 4 {
			shape = append(shape, 1) // a blob without axes, such as a loss, is one row of 1x1x1
		}
		if i == 0 {
			l.batch = shape[0]
		}
		if shape[0] != l.batch {
			return fmt.Errorf("data and label must have the same number of rows: %s and %s", bottom[0].ShapeString(), b.ShapeString())
		}
		if l.count > 0 && !slices.Equal(shape[1:], l.shape[i]) {
			return fmt.Errorf("rows of %s are %v, but %v in earlier batches", outputSets[i], shape[1:], l.shape[i])
		}
		l.shape[i] = shape[1:]
		n := b.Count()
		if l.stage[i] != nil && len(l.stage[i]) == n {
			continue
		}
		l.stage[i] = pages.Make[float32](n)
		var err error
		if l.copies[i], err = part.NewMover(&l.Base, 1, n); err != nil {
			return err
		}
	}
	return nil
}

func (l *hdf5Output) Forward(bottom, _ []*blob.Blob) error {
	for i, b := range bottom {
		if err := l.copies[i].Run(l.stage[i], b.Data()); err != nil {
			return err
		}
		l.rows[i] = append(l.rows[i], l.stage[i]...)
	}
	l.count += l.batch
	if l.count >= 2*l.written {
		return l.write()
	}
	return nil
}

func (l *hdf5Output) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

// write writes all rows received so far.
func (l *hdf5Output) write() error {
	f := &hdf5.File{}
	for i, name := range outputSets {
		f.Floats = append(f.Floats, hdf5.Dataset{Path: name, Shape: append([]int{l.count}, l.shape[i]...), Data: l.rows[i]})
	}
	err := swproto.WriteFileAtomic(l.Param.GetHdf5OutputParam().GetFileName(), func(t *os.File) error { return hdf5.Write(t.Name(), f) })
	if err == nil {
		l.written = l.count
	}
	return err
}

// Close writes the rows that are not in the file yet.
func (l *hdf5Output) Close() error {
	if l.written == l.count {
		return nil
	}
	return l.write()
}
