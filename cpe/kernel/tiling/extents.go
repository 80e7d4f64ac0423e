package tiling

// Ones returns n ones, the strides or dilations of a dense window.
func Ones(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// Size returns the product of extents: the number of values of a box.
func Size(extents []int) int {
	n := 1
	for _, e := range extents {
		n *= e
	}
	return n
}

// Two returns the extents along two axes. A vector counts as an image of one line: its first extent is then one.
func Two(v []int, one int) (first, second int) {
	if len(v) == 1 {
		return one, v[0]
	}
	return v[0], v[1]
}
