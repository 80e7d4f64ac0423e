// Package caffeh5 reads and writes the HDF5 files that Caffe makes of a snapshot: WriteWeights and ReadWeights a .caffemodel.h5,
// WriteState and ReadState a .solverstate.h5. Package data/hdf5 knows the format; this package knows Caffe's groups and datasets.
//
// A file of weights has a group /data/LAYER for every layer and in it a dataset INDEX for every weight. A file of a state has the
// datasets iter, current_step, learned_net and history/N. Names of layers are free in a net but not in a file: Check says whether a
// net's names can be groups.
package caffeh5

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/hdf5"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// WriteWeights writes a net's weights. A weight that layers share is written with the first of them. If withDiff is set, the gradients of
// all weights are written below /diff.
func WriteWeights(path string, n *swnet.Net, withDiff bool) error {
	f := &hdf5.File{}
	for k, l := range n.ToProto(withDiff).Layer {
		f.Groups = append(f.Groups, group(l.GetName()))
		for i, b := range l.Blobs {
			shape := blob.ProtoShape(b)
			if !n.Shares(k, i) {
				f.Floats = append(f.Floats, hdf5.Dataset{Path: weight(l.GetName(), i), Shape: shape, Data: b.Data})
			}
			if len(b.Diff) > 0 {
				f.Floats = append(f.Floats, hdf5.Dataset{Path: fmt.Sprintf("/diff/%s/%d", l.GetName(), i), Shape: shape, Data: b.Diff})
			}
		}
	}
	return write(path, f)
}

// write writes a file whole or not at all.
func write(path string, f *hdf5.File) error {
	return swproto.WriteFileAtomic(path, func(temporary *os.File) error { return hdf5.Write(temporary.Name(), f) })
}

// ReadWeights reads weights for a net. Layers get the names that the net has for their groups; weights that the file lacks are nil.
func ReadWeights(path string, n *swnet.Net) (*swproto.Weights, error) {
	sets, err := hdf5.Read(path, func(name string) bool { return name == "/data" || strings.HasPrefix(name, "/data/") })
	if err != nil {
		return nil, err
	}
	p := &caffepb.NetParameter{}
	layers := map[string]*caffepb.LayerParameter{}
	for _, s := range sets {
		name, index, ok := parseWeight(s.Path)
		if !ok || index < 0 || index > len(sets) {
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
		l.Blobs[index] = blobProto(s)
	}
	if err := nameLayers(p.Layer, n); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &swproto.Weights{Param: p, Unshared: true}, nil
}

// parseWeight takes the path of a weight's dataset apart. A layer's name may have slashes of its own.
func parseWeight(path string) (layer string, index int, ok bool) {
	cut := strings.LastIndexByte(path, '/')
	layer, ok = strings.CutPrefix(path[:cut], "/data/")
	index, err := strconv.Atoi(path[cut+1:])
	return layer, index, ok && err == nil
}

func blobProto(s hdf5.Dataset) *caffepb.BlobProto {
	shape := &caffepb.BlobShape{}
	for _, d := range s.Shape {
		shape.Dim = append(shape.Dim, int64(d))
	}
	return &caffepb.BlobProto{Shape: shape, Data: s.Data}
}
