package python

import (
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/data/hdf5"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/solver/caffeh5"
)

// copyFrom copies weights from files, caffemodels or HDF5, separated by commas.
func (n *Net) copyFrom(files string) error {
	for path := range strings.SplitSeq(files, ",") {
		if err := mustExist(strings.TrimSpace(path)); err != nil {
			return err
		}
	}
	return n.use(false, func() error { return loadWeights(n.net, files) })
}

// loadHDF5 is copyFrom for one HDF5 file.
func (n *Net) loadHDF5(file string) error {
	if err := mustExist(file); err != nil {
		return err
	}
	if !hdf5.Is(file) {
		return fmt.Errorf("%s: no HDF5 file", file)
	}
	return n.use(false, func() error { return loadWeights(n.net, file) })
}

// save writes the net with its weights as a caffemodel.
func (n *Net) save(file string) error {
	return n.use(false, func() error { return swproto.WriteBinary(file, n.net.ToProto(false)) })
}

// saveHDF5 writes the weights, and with diffs their gradients, as HDF5.
func (n *Net) saveHDF5(file string, diffs bool) error {
	return n.use(false, func() error { return caffeh5.WriteWeights(file, n.net, diffs) })
}
