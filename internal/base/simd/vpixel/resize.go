package vpixel

// Columns says how a row is resized: output pixel i is the sum of the source pixel at byte At[i] of the row, times the lower 16 bits of
// Weights[i], and of the pixel behind it, times the upper ones. Weights are in units of 1/2048 and sum to about 2048.
type Columns struct {
	Channels int
	At       []int32
	Weights  []uint32
}

// Set sets the source and the weights of output pixel i.
func (c *Columns) Set(i, pixel int, first, second int32) {
	c.At[i], c.Weights[i] = int32(pixel*c.Channels), uint32(uint16(first))|uint32(second)<<16
}

// Row writes a resized row, in units of 1/128. Both rows have Padding values more than their pixels.
func (c *Columns) Row(out []int16, row []byte) {
	n := len(c.At)
	if n == 0 {
		return
	}
	weights := c.Weights[:n]
	_ = out[n*c.Channels+Padding-1]
	done := 0
	switch {
	case c.Channels == 3 && have.Columns3 != none:
		done = n
		have.Columns3.run(&out[0], &row[0], &c.At[0], &weights[0], n)
	case c.Channels == 1 && have.Columns1 != none:
		done = n / 8 * 8
		have.Columns1.run(&out[0], &row[0], &c.At[0], &weights[0], n/8)
	}
	for i := done; i < n; i++ {
		a, b := int32(weights[i]&0xffff), int32(weights[i]>>16)
		first := row[c.At[i]:][:2*c.Channels]
		for k := range c.Channels {
			out[i*c.Channels+k] = int16((int32(first[k])*a + int32(first[c.Channels+k])*b) >> 4)
		}
	}
}

// Blend writes a row between two rows of Columns, whose weights are in units of 1/2048.
func Blend(out []byte, upper, lower []int16, a, b int32) {
	n := len(out)
	upper, lower = upper[:n], lower[:n]
	done := 0
	if have.Blend != none && n >= 2*step {
		done = n / (2 * step) * 2 * step
		have.Blend.run(&out[0], &upper[0], &lower[0], done/(2*step), int(a), int(b))
	}
	for i := done; i < n; i++ {
		out[i] = byte((a*int32(upper[i])>>16 + b*int32(lower[i])>>16 + 2) >> 2)
	}
}
