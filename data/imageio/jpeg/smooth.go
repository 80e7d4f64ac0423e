package jpeg

// smooth estimates coefficients of a row of blocks. It returns the row, which is valid until the next call for the component.
func (c *component) smooth(y int) []int16 {
	copy(c.estimated, c.coefficients[64*y*c.stride:])
	for x := range c.across {
		c.estimate((*[64]int16)(c.estimated[64*x:]), x, y)
	}
	return c.estimated
}

// smoothable reports whether some of the first AC coefficients are not known in full, while all DC coefficients are known in part.
func (d *Decoder) smoothable() bool {
	useful := false
	for i := range d.components {
		c := &d.components[i]
		if !d.progressive || c.quant == nil || c.bits[0] < 0 || c.quant[0] == 0 {
			return false
		}
		for k := 1; k <= 5; k++ {
			if c.quant[natural[k]] == 0 {
				return false
			}
			useful = useful || c.bits[k] != 0
		}
	}
	return useful
}

// estimate sets the first AC coefficients of a block, as far as they are 0 and not known in full, by T.81, K.8: a surface through the DC
// coefficients of the block and its eight neighbours. At the border the block itself stands for its neighbours.
func (c *component) estimate(values *[64]int16, x, y int) {
	dc := func(dx, dy int) int32 {
		return int32(c.coefficients[64*(max(0, min(y+dy, c.down-1))*c.stride+max(0, min(x+dx, c.across-1)))])
	}
	var n [3][3]int32
	for dy := range 3 {
		for dx := range 3 {
			n[dy][dx] = dc(dx-1, dy-1)
		}
	}
	for k, slope := range [6]int32{
		1: 36 * (n[1][0] - n[1][2]),
		2: 36 * (n[0][1] - n[2][1]),
		3: 9 * (n[0][1] + n[2][1] - 2*n[1][1]),
		4: 5 * (n[0][0] - n[0][2] - n[2][0] + n[2][2]),
		5: 9 * (n[1][0] + n[1][2] - 2*n[1][1]),
	} {
		at := natural[k]
		if k == 0 || c.bits[k] == 0 || values[at] != 0 {
			continue
		}
		numerator, q := int64(slope)*int64(c.quant[0]), int64(c.quant[at])
		size := (q<<7 + max(numerator, -numerator)) / (q << 8)
		if c.bits[k] > 0 {
			size = min(size, 1<<c.bits[k]-1) // larger ones would be known
		}
		if numerator < 0 {
			size = -size
		}
		values[at] = int16(size)
	}
}
