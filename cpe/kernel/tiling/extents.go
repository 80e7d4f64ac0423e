package tiling

// Ones are n strides of 1.
func Ones(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// Size is the product of extents.
func Size(extents []int) int {
	n := 1
	for _, e := range extents {
		n *= e
	}
	return n
}

// Two are the extents along two axes; where there is one, the first is what one line has.
func Two(v []int, one int) (first, second int) {
	if len(v) == 1 {
		return one, v[0]
	}
	return v[0], v[1]
}
