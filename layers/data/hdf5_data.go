package data

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "HDF5Data", Doc: "hands out batches of rows of HDF5 datasets, one dataset per top",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &hdf5Data{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.AtLeast(1), NoGradient: true, Effects: layers.NextBatch,
	})
}

// hdf5Data is Caffe's HDF5Data layer. The top called NAME holds the dataset NAME of the files that source lists. Batches continue across
// the ends of files, and from the last file to the first.
type hdf5Data struct {
	layers.Base
	rows   *hdf5.Rows
	window layers.Window
	stage  [][]float32 // one batch of each dataset
	other  [][]float32 // a row of each dataset that belongs to another worker, read and dropped
	copies []part.Mover
	row    [][]float32
}

func (l *hdf5Data) SetUp(_, top []*blob.Blob) error {
	p := l.Param.GetHdf5DataParam()
	if l.Param.TransformParam != nil {
		return errors.New("transform_param is not for HDF5Data layers: the data is used as it is stored")
	}
	batch := int(p.GetBatchSize())
	if batch < 1 {
		return fmt.Errorf("hdf5_data_param: batch_size must be positive, it is %d", batch)
	}
	if p.GetSource() == "" {
		return errors.New("hdf5_data_param: source is not set")
	}
	var err error
	if l.window, err = l.Device.Share.Window(batch); err != nil {
		return fmt.Errorf("hdf5_data_param: %w", err)
	}
	if l.rows, err = hdf5.OpenRows(p.GetSource(), l.Param.Top, p.GetShuffle(), l.Device.Random.Uint64()); err != nil {
		return err
	}
	for i, t := range top {
		t.Reshape(append([]int{l.window.Count}, l.rows.Shape(i)...)...)
		l.stage = append(l.stage, pages.Make[float32](t.Count()))
		l.other = append(l.other, pages.Make[float32](t.CountFrom(1)))
		l.row = append(l.row, nil)
		c, err := part.NewMover(&l.Base, 1, t.Count())
		if err != nil {
			return err
		}
		l.copies = append(l.copies, c)
	}
	return nil
}

func (l *hdf5Data) Reshape(_, _ []*blob.Blob) error { return nil }

func (l *hdf5Data) Forward(_, top []*blob.Blob) error {
	before := l.rows.Position()
	for b := range l.window.Stride {
		mine := b - l.window.First
		for i, s := range l.stage {
			l.row[i] = l.other[i]
			if n := len(l.row[i]); mine >= 0 && mine < l.window.Count {
				l.row[i] = s[mine*n : (mine+1)*n]
			}
		}
		if err := l.rows.Next(l.row); err != nil {
			return err
		}
	}
	if items, _ := l.rows.Count(0); items > 0 {
		tellRestart(&l.Base, "Looping around to first file.", before, l.rows.Position(), items)
	}
	for i, t := range top {
		if err := l.copies[i].Run(t.Data(), l.stage[i]); err != nil {
			return err
		}
	}
	return nil
}

func (l *hdf5Data) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

// Items implements Finite.
func (l *hdf5Data) Items(most uint64) (uint64, error) { return l.rows.Count(most) }

// Window implements Sharer.
func (l *hdf5Data) Window() layers.Window { return l.window }

// Position returns the number of rows handed out to all workers.
func (l *hdf5Data) Position() uint64 { return l.rows.Position() }

// SetPosition continues after the given number of rows.
func (l *hdf5Data) SetPosition(rows uint64) error { return l.rows.Seek(rows) }
