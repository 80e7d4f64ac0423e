package caffeh5

import (
	"fmt"

	"github.com/swcaffe/swcaffe/data/hdf5"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Check returns an error if the names of a net's layers cannot be written to an HDF5 file.
func Check(n *swnet.Net) error {
	if _, err := layerNames(n); err != nil {
		return err
	}
	f := &hdf5.File{}
	for k := range n.NumLayers() {
		name, weights := n.LayerName(k), len(n.Layer(k).Params())
		if weights > 0 && hdf5.Clean(name) == "" {
			return fmt.Errorf("layer %q has weights, but its name cannot be that of an HDF5 group", name)
		}
		f.Groups = append(f.Groups, group(name))
		for i := range weights {
			f.Floats = append(f.Floats, hdf5.Dataset{Path: weight(name, i)})
		}
	}
	return f.Check()
}

// group returns the path of a layer's group.
func group(layer string) string { return "/data/" + layer }

// weight returns the path of a weight's dataset.
func weight(layer string, index int) string { return fmt.Sprintf("%s/%d", group(layer), index) }

// layerNames maps the paths of a net's layers below /data to the layers' names; libhdf5 reads "a//b/" as "a/b". It returns an error if two
// layers have the same path, since a file could hold the weights of only one.
func layerNames(n *swnet.Net) (map[string]string, error) {
	names := map[string]string{}
	for k := range n.NumLayers() {
		name := n.LayerName(k)
		path := hdf5.Clean(name)
		if other, ok := names[path]; ok && other != name {
			return nil, fmt.Errorf("layers %q and %q have the same group /data/%s in an HDF5 file: rename one of them", other, name, path)
		}
		names[path] = name
	}
	return names, nil
}

// nameLayers renames layers from a file to the net's names for their groups.
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
