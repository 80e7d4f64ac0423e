package caffeh5

import (
	"fmt"

	"github.com/swcaffe/swcaffe/data/hdf5"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Check is an error if a net cannot be written to an HDF5 file for the names of its layers.
func Check(n *swnet.Net) error {
	if _, err := layerNames(n); err != nil {
		return err
	}
	f := &hdf5.File{}
	for k := range n.NumLayers() {
		name, weights := n.LayerName(k), len(n.Layer(k).Params())
		if weights > 0 && hdf5.Clean(name) == "" {
			return fmt.Errorf("layer %q has weights, and a name that no group of an HDF5 file can have", name)
		}
		f.Groups = append(f.Groups, group(name))
		for i := range weights {
			f.Floats = append(f.Floats, hdf5.Dataset{Path: weight(name, i)})
		}
	}
	return f.Check()
}

// group is the path of a layer's group.
func group(layer string) string { return "/data/" + layer }

// weight is the path of a weight's dataset.
func weight(layer string, index int) string { return fmt.Sprintf("%s/%d", group(layer), index) }

// layerNames maps the paths below /data that a net's layers have in a file to the layers' names: libhdf5 reads "a//b/" as "a/b". Two
// layers with one path are an error, since a file would hold the weights of one only.
func layerNames(n *swnet.Net) (map[string]string, error) {
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

// nameLayers gives layers that were read from a file the names that the net has for their groups.
func nameLayers(layers []*caffepb.LayerParameter, n *swnet.Net) error {
	names, err := layerNames(n)
	if err != nil {
		return err
	}
	for _, l := range layers {
		if name, ok := names[l.GetName()]; ok {
			l.Name = proto.String(name)
		}
	}
	return nil
}
