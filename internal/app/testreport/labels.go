package testreport

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data/annotation"
	swnet "github.com/swcaffe/swcaffe/net"
)

// ReadLabels reads the names of classes (annotation.ReadNames). A label that a LabelMap leaves out has its number for a name.
func ReadLabels(path string) ([]string, error) {
	names, _, err := annotation.ReadNames(path, strconv.Itoa)
	return names, err
}

// Names of files of names beside the sources of data layers. PREFIX is the source's name up to _train, _test or _val.
var labelFiles = []string{"PREFIX_labels.txt", "PREFIX_labelmap.prototxt", "labels.txt", "labelmap.prototxt"}

var partOfSet = regexp.MustCompile(`^(.+?)_(train|test|val)(_|\.|$)`)

// FindLabels returns the names of a net's classes where they are to be found: in the file that a layer names as its label_map_file, or in one
// beside the source of a data layer, as swcaffe dataset and init write it. Without any it returns nil.
func FindLabels(n *swnet.Net) []string {
	var candidates []string
	for i := range n.NumLayers() {
		p := n.LayerParam(i)
		candidates = append(candidates, p.GetAnnotatedDataParam().GetLabelMapFile(), p.GetDetectionOutputParam().GetSaveOutputParam().GetLabelMapFile())
		for _, source := range []string{p.GetDataParam().GetSource(), p.GetImageDataParam().GetSource(), p.GetHdf5DataParam().GetSource()} {
			if source != "" {
				candidates = append(candidates, besides(source)...)
			}
		}
	}
	for _, path := range candidates {
		if s, err := os.Stat(path); path == "" || err != nil || !s.Mode().IsRegular() {
			continue
		}
		if names, err := ReadLabels(path); err == nil {
			return names
		}
	}
	return nil
}

// besides lists the files of names that may belong to a source.
func besides(source string) (paths []string) {
	prefix := ""
	if found := partOfSet.FindStringSubmatch(filepath.Base(source)); found != nil {
		prefix = found[1]
	}
	for _, name := range labelFiles {
		if strings.HasPrefix(name, "PREFIX") {
			if prefix == "" {
				continue
			}
			name = strings.Replace(name, "PREFIX", prefix, 1)
		}
		paths = append(paths, filepath.Join(filepath.Dir(source), name))
	}
	return paths
}
