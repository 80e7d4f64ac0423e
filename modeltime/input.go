package modeltime

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// SetBatch sets the batch size of every layer that produces data, in both phases. A size that is too large for a blob is an error.
func SetBatch(p *caffepb.NetParameter, n int) error {
	if n > blob.MaxCount {
		return fmt.Errorf("a batch of %d images is too large: at most %d", n, blob.MaxCount)
	}
	size := proto.Uint32(uint32(n))
	first := func(shapes []*caffepb.BlobShape) {
		for _, s := range shapes {
			if len(s.Dim) > 0 {
				s.Dim[0] = int64(n)
			}
		}
	}
	for _, l := range p.Layer {
		if d := l.DataParam; d != nil {
			d.BatchSize = size
		}
		if d := l.ImageDataParam; d != nil {
			d.BatchSize = size
		}
		if d := l.WindowDataParam; d != nil {
			d.BatchSize = size
		}
		if d := l.MemoryDataParam; d != nil {
			d.BatchSize = size
		}
		if d := l.Hdf5DataParam; d != nil {
			d.BatchSize = size
		}
		if l.InputParam != nil {
			first(l.InputParam.Shape)
		}
		if d := l.DummyDataParam; d != nil {
			first(d.Shape)
			for i := range d.Num {
				d.Num[i] = *size
			}
		}
	}
	return nil
}

// standIn replaces layers that read images from files by constant data of the same shape, since a model does not need the images. Their size
// must be known: from a crop, or from the resizing of the layers of images or AnnotatedData. AnnotatedData gets an object for each image, with
// yolo_data_type none. Images are assumed to have three channels, or one if the layer makes them grey.
func standIn(p *caffepb.NetParameter) {
	for _, l := range p.Layer {
		var batch uint32
		channels, height := int64(3), int64(l.GetTransformParam().GetCropSize())
		width := height
		if t := l.GetTransformParam(); t.GetCropH() > 0 && t.GetCropW() > 0 {
			height, width = int64(t.GetCropH()), int64(t.GetCropW())
		}
		var label []int64 // the shape of the other tops; by default a value for each image
		switch l.GetType() {
		case "Data":
			batch = l.DataParam.GetBatchSize()
		case "AnnotatedData":
			batch = l.DataParam.GetBatchSize()
			label = []int64{1, 1, int64(batch), 8}
			if l.GetAnnotatedDataParam().GetYoloDataType() != 0 {
				label = []int64{int64(batch), 300, 5}
			}
			if r := l.GetTransformParam().GetResizeParam(); height == 0 && r.GetResizeMode() != caffepb.ResizeParameter_FIT_SMALL_SIZE {
				height, width = int64(r.GetHeight()), int64(r.GetWidth())
			}
		case "ImageData", "ImageSegData":
			d := l.ImageDataParam
			batch = d.GetBatchSize()
			if !d.GetIsColor() {
				channels = 1
			}
			if height == 0 {
				height, width = int64(d.GetNewHeight()), int64(d.GetNewWidth())
			}
			if l.GetType() == "ImageSegData" {
				label = []int64{int64(batch), 1, height, width}
			}
		case "DenseImageData":
			d := l.DenseImageDataParam
			batch = d.GetBatchSize()
			if height == 0 {
				height, width = int64(d.GetNewHeight()), int64(d.GetNewWidth())
			}
			label = []int64{int64(batch), 1, height, width}
			if !d.GetIsColor() {
				channels = 1
			}
		case "WindowData":
			batch = l.WindowDataParam.GetBatchSize()
		}
		if batch == 0 || height == 0 || width == 0 || len(l.Top) == 0 {
			continue
		}
		l.Type = proto.String("DummyData")
		l.DummyDataParam = &caffepb.DummyDataParameter{Shape: []*caffepb.BlobShape{{Dim: []int64{int64(batch), channels, height, width}}}}
		for range l.Top[1:] {
			if label == nil {
				label = []int64{int64(batch)}
			}
			l.DummyDataParam.Shape = append(l.DummyDataParam.Shape, &caffepb.BlobShape{Dim: label})
		}
		if len(l.Top) > 2 { // ImageSegData's sizes of images
			l.DummyDataParam.Shape[2] = &caffepb.BlobShape{Dim: []int64{int64(batch), 1, 1, 2}}
		}
		l.DataParam, l.ImageDataParam, l.DenseImageDataParam, l.WindowDataParam, l.AnnotatedDataParam, l.TransformParam = nil, nil, nil, nil, nil, nil
	}
}
