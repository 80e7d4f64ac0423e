package intake

// depthToSpace makes a block of pixels of channels. In mode CRD the block's rows and columns are the innermost of the channels, else the outermost.
var depthToSpace = composed(func(c chain) *value {
	v := must(c.plain(0))
	b, mode := c.int("blocksize", 0), c.text("mode", "DCR")
	if len(v.shape) != 4 || b < 1 || v.shape[1]%(b*b) != 0 || mode != "DCR" && mode != "CRD" {
		c.refuse("blocksize %d and mode %q for shape %v", b, mode, v.shape)
	}
	n, channels, h, w := v.shape[0], v.shape[1]/(b*b), v.shape[2], v.shape[3]
	if mode == "DCR" {
		v = c.permuted(c.shaped(v, n, b, b, channels, h, w), 0, 3, 4, 1, 5, 2)
	} else {
		v = c.permuted(c.shaped(v, n, channels, b, b, h, w), 0, 1, 4, 2, 5, 3)
	}
	return c.shaped(v, n, channels, h*b, w*b)
})

// spaceToDepth makes channels of the pixels of a block.
var spaceToDepth = composed(func(c chain) *value {
	v, b := must(c.plain(0)), c.int("blocksize", 0)
	if len(v.shape) != 4 || b < 1 || v.shape[2]%b != 0 || v.shape[3]%b != 0 {
		c.refuse("blocksize %d for shape %v", b, v.shape)
	}
	n, channels, h, w := v.shape[0], v.shape[1], v.shape[2]/b, v.shape[3]/b
	v = c.permuted(c.shaped(v, n, channels, h, b, w, b), 0, 3, 5, 1, 2, 4)
	return c.shaped(v, n, channels*b*b, h, w)
})
