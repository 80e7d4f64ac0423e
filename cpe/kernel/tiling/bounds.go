package tiling

import "fmt"

// Bound is one number of a shape, by name, and the least value that it may have.
type Bound struct {
	Name     string
	N, Least int
}

// Check returns an error that names the first number of a shape that is too small.
func Check(what fmt.Stringer, list ...Bound) error {
	for _, l := range list {
		if l.N < l.Least {
			return fmt.Errorf("kernel: %v: %s is %d, it must be %d or more", what, l.Name, l.N, l.Least)
		}
	}
	return nil
}
