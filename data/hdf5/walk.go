package hdf5

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errNone reports a path without an object.
var errNone = errors.New("there is nothing of that name")

// walk visits the datasets in all groups, under all their names. For a link without a target it calls visit with the problem. It
// skips objects of other kinds, and groups nested inside themselves.
func (f *file) walk(visit func(path string, o *object, problem error) error) error {
	o, err := f.object(f.root)
	if err != nil {
		return err
	}
	if !o.isGroup() {
		return damaged("its root, at address %d, is no group", f.root)
	}
	return f.walkGroup("", f.root, o, nil, visit)
}

func (f *file) walkGroup(path string, address uint64, group *object, above []uint64, visit func(string, *object, error) error) error {
	links, err := f.links(address, group)
	if err != nil {
		return fmt.Errorf("group %s/: %w", path, err)
	}
	above = append(above, address)
	for _, l := range links {
		name := path + "/" + l.name
		child, err := f.follow(l, address, 0)
		if err != nil {
			if err := visit(name, nil, err); err != nil {
				return err
			}
			continue
		}
		o, err := f.object(child)
		switch {
		case err != nil:
			err = fmt.Errorf("%s: %w", name, err)
		case o.isDataset():
			err = visit(name, o, nil)
		case o.isGroup() && !slices.Contains(above, child):
			err = f.walkGroup(name, child, o, above, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mostSoft limits the length of a chain of soft links, as in libhdf5.
const mostSoft = 16

// follow returns the address of a link's target.
func (f *file) follow(l link, group uint64, soft int) (uint64, error) {
	switch {
	case l.other != "":
		return 0, fmt.Errorf("it is %s", l.other)
	case l.soft == "":
		return l.address, nil
	case soft == mostSoft:
		return 0, fmt.Errorf("a soft link to %s: more than %d soft links lead to one another", l.soft, mostSoft)
	}
	address, err := f.resolve(l.soft, group, soft+1)
	if err != nil {
		err = fmt.Errorf("a soft link to %s: %w", l.soft, err)
	}
	return address, err
}

// resolve returns the address of the object at a path, relative to a group, or to the root if the path begins with a slash.
func (f *file) resolve(path string, group uint64, soft int) (uint64, error) {
	if strings.HasPrefix(path, "/") {
		group = f.root
	}
	for part := range strings.SplitSeq(Clean(path), "/") {
		if part == "" {
			continue
		}
		o, err := f.object(group)
		if err != nil {
			return 0, err
		}
		if !o.isGroup() {
			return 0, errNone
		}
		links, err := f.links(group, o)
		if err != nil {
			return 0, err
		}
		i, found := slices.BinarySearchFunc(links, part, func(l link, name string) int { return strings.Compare(l.name, name) })
		if !found {
			return 0, errNone
		}
		if group, err = f.follow(links[i], group, soft); err != nil {
			return 0, err
		}
	}
	return group, nil
}
