package solver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/data/hdf5"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// LoadWeights copies weights from a comma-separated list of files, .caffemodel or HDF5, into a net; later files win. A file without
// layers is an error: any small binary file may pass for one.
func LoadWeights(n *swnet.Net, list string, log *logrus.Logger) error {
	for path := range strings.SplitSeq(list, ",") {
		if path = strings.TrimSpace(path); path == "" {
			return fmt.Errorf("weights %q: a name is empty in this list of files", list)
		}
		log.Infof("Finetuning from %s", path)
		if err := loadFile(n, path, log); err != nil {
			return err
		}
	}
	return nil
}

func loadFile(n *swnet.Net, path string, log *logrus.Logger) error {
	isHDF5 := hdf5.Is(path)
	open := swproto.OpenWeights
	if isHDF5 {
		open = readHDF5Weights
	}
	w, err := open(path)
	if err != nil {
		return err
	}
	defer w.Close()
	if isHDF5 {
		if err := nameLayers(w, n); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, warning := range w.Warnings {
		log.Warn(warning)
	}
	if len(w.Param.Layer) == 0 && len(n.Learnable()) > 0 {
		return fmt.Errorf("%s: no weights: the file has no layers", path)
	}
	if err := n.LoadWeights(w); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readHDF5Weights reads a net in Caffe's HDF5 layout. Weights that the file does not have are nil.
func readHDF5Weights(path string) (*swproto.Weights, error) {
	sets, err := hdf5.Read(path, func(name string) bool { return name == "/data" || strings.HasPrefix(name, "/data/") })
	if err != nil {
		return nil, err
	}
	p := &caffepb.NetParameter{}
	layers := map[string]*caffepb.LayerParameter{}
	for _, s := range sets {
		// Caffe's layout is /data/LAYER/INDEX; a layer's name may have slashes of its own.
		cut := strings.LastIndexByte(s.Path, '/')
		name, ok := strings.CutPrefix(s.Path[:cut], "/data/")
		index, err := strconv.Atoi(s.Path[cut+1:])
		if !ok || err != nil || index < 0 || index > len(sets) {
			return nil, fmt.Errorf("%s: dataset %s is not a weight's: its name should be /data/LAYER/INDEX", path, s.Path)
		}
		l := layers[name]
		if l == nil {
			l = &caffepb.LayerParameter{Name: proto.String(name)}
			layers[name] = l
			p.Layer = append(p.Layer, l)
		}
		for len(l.Blobs) <= index {
			l.Blobs = append(l.Blobs, nil)
		}
		l.Blobs[index] = weightProto(s)
	}
	return &swproto.Weights{Param: p, Unshared: true}, nil
}

func weightProto(s hdf5.Dataset) *caffepb.BlobProto {
	shape := &caffepb.BlobShape{}
	for _, d := range s.Shape {
		shape.Dim = append(shape.Dim, int64(d))
	}
	return &caffepb.BlobProto{Shape: shape, Data: s.Data}
}
