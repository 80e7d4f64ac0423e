// Package caffeh5 reads and writes the HDF5 files of Caffe's snapshots. WriteWeights and ReadWeights handle a .caffemodel.h5, WriteState
// and ReadState a .solverstate.h5. Package data/hdf5 implements the file format; this package knows Caffe's groups and datasets.
//
// A file of weights has a group /data/LAYER for every layer, with a dataset INDEX for every weight. A file of a state has the datasets
// iter, current_step, learned_net and history/N. A net allows any layer name, a file does not: Check reports whether a net's names can be
// groups.
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

// WriteWeights writes a net's weights. A weight shared by layers is written under the first of them. With withDiff, the gradients of all
// weights are written below /diff.
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

// write writes a file in full or not at all.
func write(path string, f *hdf5.File) error {
	return swproto.WriteFileAtomic(path, func(temporary *os.File) error { return hdf5.Write(temporary.Name(), f) })
}

// ReadWeights reads weights for a net. Layers get the net's names for their groups, without a net those of the groups. Weights missing in the file are nil.
func ReadWeights(path string, n *swnet.Net) (*swproto.Weights, error) {
	sets, err := hdf5.Read(path, func(name string) bool { return name == "/data" || strings.HasPrefix(name, "/data/") })
	if err != nil {
		return nil, err
	}
	if len(sets) == 0 && !hdf5.HasGroup(path, "data") {
		return nil, fmt.Errorf("%s: no weights: the file has no group /data", path)
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
	if n != nil {
		if err := nameLayers(p.Layer, n); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return &swproto.Weights{Param: p, Unshared: true}, nil
}

// parseWeight splits the path of a weight's dataset. A layer's name may contain slashes.
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
