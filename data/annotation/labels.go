package annotation

import (
	"fmt"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// LabelMap is a label map file: the names and labels of the classes.
type LabelMap struct {
	file string
	m    caffepb.LabelMap
}

// ReadLabelMap reads a label map file. A file without classes is an error.
func ReadLabelMap(file string) (*LabelMap, error) {
	m := &LabelMap{file: file}
	if _, err := swproto.ReadText(file, &m.m); err != nil {
		return nil, fmt.Errorf("label map: %w", err)
	}
	if len(m.m.GetItem()) == 0 {
		return nil, fmt.Errorf("label map %s has no item", file)
	}
	return m, nil
}

// Labels returns the labels by name. If a name occurs twice, check makes that an error; otherwise its last label counts, as in SSD.
func (m *LabelMap) Labels(check bool) (map[string]int, error) {
	labels := map[string]int{}
	for i, item := range m.m.GetItem() {
		if item.Name == nil || item.Label == nil {
			return nil, fmt.Errorf("label map %s: item %d needs a name and a label", m.file, i)
		}
		if other, double := labels[item.GetName()]; double && check {
			return nil, fmt.Errorf("label map %s: item %d has the name %q, as has the class with label %d", m.file, i, item.GetName(), other)
		}
		labels[item.GetName()] = int(item.GetLabel())
	}
	return labels, nil
}
