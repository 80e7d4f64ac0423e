package modeltime

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	swnet "github.com/swcaffe/swcaffe/net"
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
//
// A DummyData layer cannot write objects: it has one value for a whole top. standIn returns the names of the layers that need them, for
// [writeObjects].
func standIn(p *caffepb.NetParameter) (objects map[string]bool) {
	objects = map[string]bool{}
	for _, l := range p.Layer {
		s := sizeOf(l)
		if s.batch == 0 || s.height == 0 || s.width == 0 || len(l.Top) == 0 {
			continue
		}
		if len(l.Top) > 1 && l.GetType() == "AnnotatedData" && l.GetAnnotatedDataParam().GetYoloDataType() == 0 {
			objects[l.GetName()] = true
		}
		l.Type = proto.String("DummyData")
		l.DummyDataParam = &caffepb.DummyDataParameter{Shape: []*caffepb.BlobShape{{Dim: []int64{s.batch, s.channels, s.height, s.width}}}}
		for range l.Top[1:] {
			l.DummyDataParam.Shape = append(l.DummyDataParam.Shape, &caffepb.BlobShape{Dim: s.label})
		}
		if len(l.Top) > 2 { // ImageSegData's sizes of images
			l.DummyDataParam.Shape[2] = &caffepb.BlobShape{Dim: []int64{s.batch, 1, 1, 2}}
		}
		l.DataParam, l.ImageDataParam, l.DenseImageDataParam, l.WindowDataParam, l.AnnotatedDataParam, l.TransformParam = nil, nil, nil, nil, nil, nil
	}
	return objects
}

// writeObjects gives each image one object of class 1 in its middle, in the layers with the given names.
func writeObjects(n *swnet.Net, names map[string]bool) {
	for i := range n.NumLayers() {
		if !names[n.LayerName(i)] {
			continue
		}
		rows := n.Tops(i)[1].Data()
		for image := range len(rows) / 8 {
			copy(rows[8*image:], []float32{float32(image), 1, 0, 0.25, 0.25, 0.75, 0.75, 0}) // image, class, instance, box, difficult
		}
	}
}

// size is what is known of a layer's images.
type size struct {
	batch, channels, height, width int64
	label                          []int64 // the shape of the second top
}

// sizeOf returns the size of the images of a layer that reads files. batch is 0 for other layers.
func sizeOf(l *caffepb.LayerParameter) size {
	t := l.GetTransformParam()
	s := size{channels: 3, height: int64(t.GetCropSize()), width: int64(t.GetCropSize())}
	if t.GetCropH() > 0 && t.GetCropW() > 0 {
		s.height, s.width = int64(t.GetCropH()), int64(t.GetCropW())
	}
	var labelled bool
	switch l.GetType() {
	case "Data":
		s.batch = int64(l.DataParam.GetBatchSize())
	case "AnnotatedData":
		s.batch = int64(l.DataParam.GetBatchSize())
		s.label = []int64{1, 1, s.batch, 8}
		if l.GetAnnotatedDataParam().GetYoloDataType() != 0 {
			s.label = []int64{s.batch, 300, 5}
		}
		if rs := t.GetResizeParam(); len(rs) > 0 && rs[0].GetResizeMode() != caffepb.ResizeParameter_FIT_SMALL_SIZE {
			r := rs[0] // of several, all have their turn
			s.resize(r.GetHeight(), r.GetWidth())
		}
	case "ImageData", "ImageSegData":
		s.files(l.ImageDataParam)
		labelled = l.GetType() == "ImageSegData"
	case "DenseImageData":
		s.files(l.DenseImageDataParam)
		labelled = true
	case "WindowData":
		s.batch = int64(l.WindowDataParam.GetBatchSize())
	}
	switch {
	case labelled:
		s.label = []int64{s.batch, 1, s.height, s.width}
	case s.label == nil:
		s.label = []int64{s.batch}
	}
	return s
}

// files takes the fields of a layer that reads image files.
func (s *size) files(p interface {
	GetBatchSize() uint32
	GetIsColor() bool
	GetNewHeight() uint32
	GetNewWidth() uint32
}) {
	s.batch = int64(p.GetBatchSize())
	if !p.GetIsColor() {
		s.channels = 1
	}
	s.resize(p.GetNewHeight(), p.GetNewWidth())
}

// resize takes the size of images before a crop, unless there is one.
func (s *size) resize(height, width uint32) {
	if s.height == 0 {
		s.height, s.width = int64(height), int64(width)
	}
}
