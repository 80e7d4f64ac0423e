package testreport

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data/regular"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// longestLabels limits the size of a file of names.
const longestLabels = 1 << 28

// mostLabels limits the labels of a LabelMap.
const mostLabels = 1 << 20

// labelMapItem begins an item of a LabelMap.
var labelMapItem = regexp.MustCompile(`(?m)^\s*item\s*:?\s*\{`)

// ReadLabels reads the names of classes: a text file with one a line, from class 0 on, or SSD's LabelMap.
func ReadLabels(path string) ([]string, error) {
	text, err := regular.ReadText(path, longestLabels)
	if err != nil {
		return nil, err
	}
	if labelMapItem.Match(text) {
		return readLabelMap(path, text)
	}
	return strings.Split(strings.TrimRight(strings.ReplaceAll(string(text), "\r", ""), "\n"), "\n"), nil
}

func readLabelMap(path string, text []byte) (names []string, err error) {
	var m caffepb.LabelMap
	if _, err := swproto.UnmarshalText(path, text, &m); err != nil {
		return nil, err
	}
	for _, item := range m.Item {
		label := int(item.GetLabel())
		if label < 0 || label >= mostLabels {
			return nil, fmt.Errorf("%s: label %d is not between 0 and %d", path, label, mostLabels-1)
		}
		for len(names) <= label {
			names = append(names, strconv.Itoa(len(names)))
		}
		if names[label] = item.GetDisplayName(); names[label] == "" {
			names[label] = item.GetName()
		}
	}
	return names, nil
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
