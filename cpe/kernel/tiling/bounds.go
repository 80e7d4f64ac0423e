package tiling

import "fmt"

// Bound is a number of a shape and the least that it may be.
type Bound struct {
	Name     string
	N, Least int
}

// Check names the first of a shape's numbers that is too small, nil if there is none.
func Check(what fmt.Stringer, list ...Bound) error {
	for _, l := range list {
		if l.N < l.Least {
			return fmt.Errorf("kernel: %v: %s is %d, it must be %d or more", what, l.Name, l.N, l.Least)
		}
	}
	return nil
}
