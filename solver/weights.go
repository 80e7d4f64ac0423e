package solver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/data/hdf5"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/solver/caffeh5"
)

// LoadWeights copies weights from a comma-separated list of files, .caffemodel or HDF5, into a net. Later files overwrite earlier ones.
// Layers that no file has keep their values.
func LoadWeights(n *swnet.Net, list string, log *logrus.Logger) error {
	_, err := loadFiles(n, list, log)
	return err
}

// LoadTrained is LoadWeights for a net that will not be trained: untrained weights would give figures without worth. It returns a sentence about the layers
// that none of the files has weights for, "" if there are none, and also logs it as a warning. If that are all layers with weights, it is an error, unless
// they are arrays alone (Parameter).
func LoadTrained(n *swnet.Net, list string, log *logrus.Logger) (untrained string, err error) {
	stored, err := loadFiles(n, list, log)
	if err != nil {
		return "", err
	}
	var without []string
	some, computes := false, false
	for i := range n.NumLayers() {
		name := n.LayerName(i)
		switch p := n.LayerParam(i); {
		case len(n.Layer(i).Params()) == 0:
		case stored[name] || len(p.Blobs) > 0:
			some = true
		case owns(n, name):
			without, computes = append(without, name), computes || len(p.Bottom) > 0
		}
	}
	if len(without) == 0 {
		return "", nil
	}
	if !some && computes {
		return "", fmt.Errorf("%s has no weights for any layer of the net, whose first layers with weights are %s: are the names of layers those of the training?", list, firstOf(without))
	}
	untrained = fmt.Sprintf("%s has no weights for %s: untrained ones are used", list, strings.Join(without, ", "))
	log.Warn(untrained)
	return untrained, nil
}

// owns reports whether a layer has weights that are not another layer's.
func owns(n *swnet.Net, layer string) bool {
	return slices.ContainsFunc(n.Learnable(), func(w swnet.Learnable) bool { return w.Layer == layer })
}

// firstOf lists the first few names.
func firstOf(names []string) string {
	const few = 3
	if len(names) > few {
		names = append(slices.Clone(names[:few]), "...")
	}
	return strings.Join(names, ", ")
}

// loadFiles returns the names of the files' layers that have weights.
func loadFiles(n *swnet.Net, list string, log *logrus.Logger) (map[string]bool, error) {
	paths, err := weightFiles(list)
	if err != nil {
		return nil, err
	}
	stored := map[string]bool{}
	for _, path := range paths {
		log.Infof("Finetuning from %s", path)
		w, err := loadFile(n, path, log)
		if err != nil {
			return nil, err
		}
		addStored(stored, w)
	}
	return stored, nil
}

// addStored adds the names of the layers that have weights.
func addStored(to map[string]bool, w *swproto.Weights) {
	for _, l := range w.Param.Layer {
		to[l.GetName()] = to[l.GetName()] || len(l.Blobs) > 0
	}
}

// weightFiles splits a comma-separated list of files.
func weightFiles(list string) (paths []string, err error) {
	for path := range strings.SplitSeq(list, ",") {
		if path = strings.TrimSpace(path); path == "" {
			return nil, fmt.Errorf("weights %q: a name is empty in this list of files", list)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// loadFile copies the weights of a file. It returns the file, closed: its layers are still known.
func loadFile(n *swnet.Net, path string, log *logrus.Logger) (*swproto.Weights, error) {
	w, err := openWeights(n, path)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for _, warning := range w.Warnings {
		log.Warn(warning)
	}
	if err := n.LoadWeights(w); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// openWeights opens a file of weights in either format.
func openWeights(n *swnet.Net, path string) (*swproto.Weights, error) {
	if hdf5.Is(path) {
		return caffeh5.ReadWeights(path, n)
	}
	return swproto.OpenWeights(path)
}

// openState opens a .solverstate in either format.
func openState(path string) (*swproto.State, error) {
	if hdf5.Is(path) {
		return caffeh5.ReadState(path)
	}
	return swproto.OpenState(path)
}

// StoredLayers returns the names of the layers that have weights in a comma-separated list of files; without a net, none of those in files of HDF5, whose names are not always the
// layers'.
func StoredLayers(n *swnet.Net, list string) (map[string]bool, error) {
	paths, err := weightFiles(list)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, path := range paths {
		if n == nil && hdf5.Is(path) {
			continue
		}
		w, err := openWeights(n, path)
		if err != nil {
			return nil, err
		}
		addStored(names, w)
		w.Close()
	}
	return names, nil
}
