package annotation

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/swcaffe/swcaffe/data/regular"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// longestNames limits the size of a file of names.
const longestNames = 1 << 28

// mostNames limits the labels of a LabelMap.
const mostNames = 1 << 20

// mapItem begins an item of a LabelMap.
var mapItem = regexp.MustCompile(`(?m)^\s*item\s*:?\s*\{`)

// ReadNames reads the names of classes: a text file with one a line, from class 0 on, or SSD's LabelMap, as which a .prototxt is always read. gap names
// the labels that a LabelMap leaves out; listed reports that the file is no LabelMap and leaves out none.
func ReadNames(path string, gap func(label int) string) (names []string, listed bool, err error) {
	text, err := regular.ReadText(path, longestNames)
	if err != nil {
		return nil, false, err
	}
	if mapItem.Match(text) || filepath.Ext(path) == ".prototxt" {
		names, err = namesOfMap(path, text, gap)
		return names, false, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, false, fmt.Errorf("%s: the file has no labels", path)
	}
	return strings.Split(strings.TrimRight(strings.ReplaceAll(string(text), "\r", ""), "\n"), "\n"), true, nil
}

func namesOfMap(path string, text []byte, gap func(label int) string) (names []string, err error) {
	var m caffepb.LabelMap
	if _, err := swproto.UnmarshalText(path, text, &m); err != nil {
		return nil, err
	}
	first := map[int]string{}
	for _, item := range m.Item {
		label := int(item.GetLabel())
		if other, twice := first[label]; twice {
			return nil, fmt.Errorf("%s: two classes, %q and %q, have the label %d", path, other, item.GetName(), label)
		}
		first[label] = item.GetName()
		if label < 0 || label >= mostNames {
			return nil, fmt.Errorf("%s: label %d is not between 0 and %d", path, label, mostNames-1)
		}
		for len(names) <= label {
			names = append(names, gap(len(names)))
		}
		if names[label] = item.GetDisplayName(); names[label] == "" {
			names[label] = item.GetName()
		}
	}
	return names, nil
}
