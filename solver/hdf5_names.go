package solver

import (
	"fmt"

	"github.com/swcaffe/swcaffe/data/hdf5"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"google.golang.org/protobuf/proto"
)

// hdf5Names returns the names of a net's layers by the paths that they have in HDF5 files below /data: libhdf5 reads "a//b/" as "a/b". Two
// layers with one path are an error, since a file would have the weights of one only.
func hdf5Names(n *swnet.Net) (map[string]string, error) {
	names := map[string]string{}
	for k := range n.NumLayers() {
		name := n.LayerName(k)
		path := hdf5.Clean(name)
		if other, ok := names[path]; ok && other != name {
			return nil, fmt.Errorf("layers %q and %q would both be group /data/%s of an HDF5 file: give one another name", other, name, path)
		}
		names[path] = name
	}
	return names, nil
}

// checkHDF5 is an error if a net cannot be written to an HDF5 file for the names of its layers.
func checkHDF5(n *swnet.Net) error {
	if _, err := hdf5Names(n); err != nil {
		return err
	}
	f := &hdf5.File{}
	for k := range n.NumLayers() {
		name, weights := n.LayerName(k), len(n.Layer(k).Params())
		if weights > 0 && hdf5.Clean(name) == "" {
			return fmt.Errorf("layer %q has weights, and a name that no group of an HDF5 file can have", name)
		}
		f.Groups = append(f.Groups, hdf5Group(name))
		for i := range weights {
			f.Floats = append(f.Floats, hdf5.Dataset{Path: fmt.Sprintf("%s/%d", hdf5Group(name), i)})
		}
	}
	return f.Check()
}

// hdf5Group is the group of a layer's weights.
func hdf5Group(layer string) string { return "/data/" + layer }

// nameLayers gives the layers of an HDF5 file the names that those of a net have which would be written to the same groups.
func nameLayers(w *swproto.Weights, n *swnet.Net) error {
	names, err := hdf5Names(n)
	if err != nil {
		return err
	}
	for _, l := range w.Param.Layer {
		if name, ok := names[l.GetName()]; ok {
			l.Name = proto.String(name)
		}
	}
	return nil
}
