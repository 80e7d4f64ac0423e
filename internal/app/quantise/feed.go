package quantise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Feed lets a net for phase TEST read from a source: an LMDB or LevelDB folder, or a list of images. Its Data and ImageData layers get the source; a net
// without them has its first Input layer replaced by such a layer, which prepares images by the transform_param and in the batches of the Input. Nothing would
// be measured rightly behind another input, so that a net with several is refused.
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
	return feedInput(p, source, backend)
}

// feedInput replaces a net's only Input.
func feedInput(p *caffepb.NetParameter, source string, backend *caffepb.DataParameter_DB) error {
	var inputs []string
	at := -1
	for i, l := range p.Layer {
		if l.GetType() == "Input" && inTest(l) {
			if at < 0 {
				at = i
			}
			inputs = append(inputs, l.Top...)
		}
	}
	switch {
	case at < 0 || len(p.Layer[at].GetInputParam().GetShape()) == 0:
		return errors.New("the net has no Data, ImageData or Input layer that could read it")
	case len(inputs) > 1:
		return fmt.Errorf("it gives images to one input, but the net has %d (%s), and the others would be measured as 0: give a net with layers that read data for all, as a train_val.prototxt", len(inputs), strings.Join(inputs, ", "))
	}
	l := p.Layer[at]
	shape := l.InputParam.Shape[0].GetDim()
	if len(shape) != 4 {
		return errors.New("the net's Input has no images: its shape needs 4 axes")
	}
	data := &caffepb.LayerParameter{Name: l.Name, Top: l.Top, Include: l.Include, TransformParam: l.TransformParam, DataParam: &caffepb.DataParameter{BatchSize: proto.Uint32(uint32(shape[0]))}}
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
	p.Layer[at] = data
	return nil
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
