package layers

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "HDF5Data", Doc: "hands out batches of rows of HDF5 datasets, one dataset a top",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &hdf5Data{Base: Base{Param: p, Device: d}}
		},
		Bottoms: Exactly(0), Tops: AtLeast(1), NoGradient: true,
	})
}

// hdf5Data is Caffe's HDF5Data layer: top NAME is dataset NAME of the files that source lists. Batches run across the ends
// of files, and from the last file to the first.
type hdf5Data struct {
	Base
	rows   *hdf5.Rows
	batch  int
	stage  [][]float32 // a batch of each dataset
	copies []*kernel.Copy
	row    [][]float32
}

func (l *hdf5Data) SetUp(_, top []*blob.Blob) error {
	p := l.Param.GetHdf5DataParam()
	if l.Param.TransformParam != nil {
		return errors.New("transform_param is not for HDF5Data layers: the data is used as it is stored")
	}
	l.batch = int(p.GetBatchSize())
	if l.batch < 1 {
		return fmt.Errorf("hdf5_data_param: batch_size must be positive, it is %d", l.batch)
	}
	var err error
	if l.rows, err = hdf5.OpenRows(p.GetSource(), l.Param.Top, p.GetShuffle(), l.Device.Random.Uint64()); err != nil {
		return err
	}
	for i, t := range top {
		t.Reshape(append([]int{l.batch}, l.rows.Shape(i)...)...)
		l.stage = append(l.stage, make([]float32, t.Count()))
		l.row = append(l.row, nil)
		c, err := kernel.NewCopy(l.Device.Machine, kernel.CopyShape{Outer: 1, Rows: 1, Cols: t.Count(), SrcRow: t.Count(), DstRow: t.Count()})
		if err != nil {
			return err
		}
		l.copies = append(l.copies, c)
	}
	return nil
}

func (l *hdf5Data) Reshape(_, _ []*blob.Blob) error { return nil }

func (l *hdf5Data) Forward(_, top []*blob.Blob) error {
	for b := range l.batch {
		for i, s := range l.stage {
			n := len(s) / l.batch
			l.row[i] = s[b*n : (b+1)*n]
		}
		if err := l.rows.Next(l.row); err != nil {
			return err
		}
	}
	for i, t := range top {
		if l.mpe() {
			copy(t.Data(), l.stage[i])
		} else if err := l.copies[i].Run(t.Data(), l.stage[i]); err != nil {
			return err
		}
	}
	return nil
}

func (l *hdf5Data) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

// Position returns the number of rows handed out.
func (l *hdf5Data) Position() uint64 { return l.rows.Position() }

// SetPosition continues behind a number of rows.
func (l *hdf5Data) SetPosition(rows uint64) error { return l.rows.Seek(rows) }
