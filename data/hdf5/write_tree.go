package hdf5

import (
	"fmt"
	"slices"
	"strings"
)

// node is a group or a dataset of a file to write.
type node struct {
	name     string
	set      *stored // nil: a group
	children map[string]*node
	order    []*node // the children by name, once the tree is complete
}

// tree arranges groups and datasets into a tree by their paths.
func (f *File) tree() (*node, error) {
	root := &node{}
	for _, g := range f.Groups {
		if err := root.add(g, nil); err != nil {
			return nil, err
		}
	}
	for _, d := range f.Floats {
		if len(d.Shape) > maxRank {
			return nil, fmt.Errorf("dataset %s: it has %d axes, HDF5 has at most %d", d.Path, len(d.Shape), maxRank)
		}
		if err := root.add(d.Path, &stored{class: classFloat, shape: d.Shape, floats: d.Data}); err != nil {
			return nil, err
		}
	}
	for _, d := range f.Integers {
		if err := root.add(d.Path, &stored{class: classInteger, shape: []int{len(d.Data)}, integers: d.Data}); err != nil {
			return nil, err
		}
	}
	for _, d := range f.Strings {
		if err := root.add(d.Path, &stored{class: classString, text: append([]byte(d.Text), 0)}); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// add adds a dataset, or a group if set is nil, and the missing groups above it.
func (n *node) add(path string, set *stored) error {
	kind := "group"
	if set != nil {
		kind = "dataset"
	}
	if strings.Contains(path, "\x00") {
		return fmt.Errorf("%s %q: names in HDF5 files have no NUL", kind, path)
	}
	clean := Clean(path)
	if clean == "" && set != nil {
		return fmt.Errorf("dataset %q has no name", path)
	}
	fresh := false
	for part := range strings.SplitSeq(clean, "/") {
		if part == "" {
			continue
		}
		if n.set != nil {
			return fmt.Errorf("%s %s: a dataset lies on its way", kind, path)
		}
		child := n.children[part]
		if fresh = child == nil; fresh {
			if len(part) >= longestName {
				return fmt.Errorf("%s %.40s...: a name of %d bytes is too long", kind, path, len(part))
			}
			child = &node{name: part}
			if n.children == nil {
				n.children = map[string]*node{}
			}
			n.children[part] = child
		}
		n = child
	}
	if n.set != nil || set != nil && !fresh {
		return fmt.Errorf("%s %s: the file has /%s already", kind, path, clean)
	}
	n.set = set
	return nil
}

// sorted returns the children in libhdf5's order: by the bytes of their names.
func (n *node) sorted() []*node {
	if len(n.order) != len(n.children) {
		n.order = n.order[:0]
		for _, c := range n.children {
			n.order = append(n.order, c)
		}
		slices.SortFunc(n.order, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	}
	return n.order
}
