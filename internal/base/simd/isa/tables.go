package isa

import (
	"path"
	"reflect"
	"slices"
)

// tables enter the level in use in the table of each package, offered has the names of all kernels: package.Kernel.
var (
	tables  []func()
	offered = map[string]bool{}
)

// Offer says what a package has for the levels: have is its table in use, which holds the block sizes of plain Go when Offer is called and no kernel.
// levels enter the sizes and kernels of a level in a table. T is a struct whose fields are block sizes, of type int, and numbers of kernels and
// arrays of them, of other types; a field's name is that of the kernel.
func Offer[T any](have *T, levels map[string]func(*T)) {
	table, room := reflect.ValueOf(have).Elem(), path.Base(reflect.TypeFor[T]().PkgPath())
	golang := *have
	for i := range table.NumField() {
		offered[room+"."+table.Type().Field(i).Name] = isKernel(table.Field(i))
	}
	enter := func() {
		*have = golang
		fill := levels[active.Name]
		if fill == nil {
			return
		}
		fill(have)
		for i := range table.NumField() {
			if f := table.Field(i); only != nil && isKernel(f) && !slices.Contains(only, room+"."+table.Type().Field(i).Name) {
				f.SetZero()
			}
		}
	}
	tables = append(tables, enter)
	enter()
}

// isKernel reports whether a field of a table is no block size.
func isKernel(field reflect.Value) bool { return field.Kind() != reflect.Int }
