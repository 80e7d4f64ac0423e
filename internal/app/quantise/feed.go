package quantise

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Feed lets a net for phase TEST read from a source: an LMDB or LevelDB folder, or a list of images. Its Data and ImageData layers get the source; a net
// without them has its first Input layer replaced by such a layer, which prepares images by the transform_param and in the batches of the Input.
func Feed(p *caffepb.NetParameter, source string) error {
	backend, err := backendOf(source)
	if err != nil {
		return err
	}
	fed := false
	for _, l := range p.Layer {
		if !inTest(l) || l.GetType() != "Data" && l.GetType() != "ImageData" {
			continue
		}
		fed = true
		replaceSource(l, source, backend)
	}
	if fed {
		return nil
	}
	for i, l := range p.Layer {
		if l.GetType() == "Input" && inTest(l) && len(l.Top) > 0 && len(l.GetInputParam().GetShape()) > 0 {
			shape := l.InputParam.Shape[0].GetDim()
			if len(shape) != 4 {
				return errors.New("the net's first Input has no images: its shape needs 4 axes")
			}
			data := &caffepb.LayerParameter{Name: l.Name, Top: l.Top[:1], Include: l.Include, TransformParam: l.TransformParam, DataParam: &caffepb.DataParameter{BatchSize: proto.Uint32(uint32(shape[0]))}}
			if data.TransformParam == nil {
				data.TransformParam = &caffepb.TransformationParameter{}
			}
			replaceSource(data, source, backend)
			if im := data.ImageDataParam; im != nil {
				im.NewHeight, im.NewWidth, im.IsColor = proto.Uint32(uint32(shape[2])), proto.Uint32(uint32(shape[3])), proto.Bool(shape[1] != 1)
				data.Top = append(slices.Clone(data.Top), l.GetName()+"_label")
			} else if shape[2] == shape[3] && data.TransformParam.CropSize == nil {
				data.TransformParam.CropSize = proto.Uint32(uint32(shape[2]))
			}
			p.Layer[i] = data
			if rest := l.Top[1:]; len(rest) > 0 { // other inputs stay
				other := proto.CloneOf(l)
				other.Top = rest
				if len(other.InputParam.Shape) > 1 {
					other.InputParam.Shape = other.InputParam.Shape[1:]
				}
				p.Layer = slices.Insert(p.Layer, i+1, other)
			}
			return nil
		}
	}
	return errors.New("the net has no Data, ImageData or Input layer that could read it")
}

// inTest reports whether a layer may be in phase TEST.
func inTest(l *caffepb.LayerParameter) bool {
	test := func(r *caffepb.NetStateRule) bool { return r.Phase == nil || r.GetPhase() == caffepb.Phase_TEST }
	only := func(r *caffepb.NetStateRule) bool { return r.Phase != nil && r.GetPhase() == caffepb.Phase_TEST }
	return (len(l.Include) == 0 || slices.ContainsFunc(l.Include, test)) && !slices.ContainsFunc(l.Exclude, only)
}

// backendOf returns the kind of a database, nil for a list of images.
func backendOf(source string) (*caffepb.DataParameter_DB, error) {
	info, err := os.Stat(source)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, nil
	}
	for file, kind := range map[string]caffepb.DataParameter_DB{"data.mdb": caffepb.DataParameter_LMDB, "CURRENT": caffepb.DataParameter_LEVELDB} {
		if _, err := os.Stat(filepath.Join(source, file)); err == nil {
			return kind.Enum(), nil
		}
	}
	return nil, errors.New(source + ": the folder has no LMDB (data.mdb) and no LevelDB (CURRENT)")
}

// replaceSource lets a layer read from a source, in its batches.
func replaceSource(l *caffepb.LayerParameter, source string, backend *caffepb.DataParameter_DB) {
	batch := l.GetDataParam().GetBatchSize()
	if l.GetImageDataParam() != nil {
		batch = l.ImageDataParam.GetBatchSize()
	}
	if backend == nil {
		im := l.ImageDataParam
		if im == nil {
			im = &caffepb.ImageDataParameter{BatchSize: proto.Uint32(batch)}
		}
		im.Source = proto.String(source)
		l.Type, l.ImageDataParam, l.DataParam = proto.String("ImageData"), im, nil
		return
	}
	l.Type, l.ImageDataParam = proto.String("Data"), nil
	l.DataParam = &caffepb.DataParameter{BatchSize: proto.Uint32(batch), Source: proto.String(source), Backend: backend}
}
