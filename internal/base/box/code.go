package box

import "math"

// Code is the encoding of a box relative to a prior box.
type Code int

const (
	// Corner: the differences of the four coordinates.
	Corner Code = iota + 1
	// CenterSize: the shift of the centre in units of the prior's sides, and the logarithms of the ratios of the sides.
	CenterSize
	// CornerSize: the differences of the coordinates in units of the prior's sides.
	CornerSize
)

// Coder encodes and decodes boxes. The code's values are divided by the prior's variances, unless Plain is set.
type Coder struct {
	Code  Code
	Plain bool
}

// Encode returns the code of a box relative to a prior.
func (c Coder) Encode(prior Box, variance [4]float32, b Box) (code [4]float32) {
	w, h := prior.Width(), prior.Height()
	switch c.Code {
	case Corner:
		code = [4]float32{b.XMin - prior.XMin, b.YMin - prior.YMin, b.XMax - prior.XMax, b.YMax - prior.YMax}
	case CenterSize:
		x, y := prior.centre()
		bx, by := b.centre()
		code = [4]float32{(bx - x) / w, (by - y) / h, log(b.Width() / w), log(b.Height() / h)}
	case CornerSize:
		code = [4]float32{(b.XMin - prior.XMin) / w, (b.YMin - prior.YMin) / h, (b.XMax - prior.XMax) / w, (b.YMax - prior.YMax) / h}
	default:
		panic("box: unknown code")
	}
	if !c.Plain {
		for i := range code {
			code[i] /= variance[i]
		}
	}
	return code
}

// Decode returns the box of a code.
func (c Coder) Decode(prior Box, variance, code [4]float32) Box {
	if !c.Plain {
		for i := range code {
			code[i] *= variance[i]
		}
	}
	w, h := prior.Width(), prior.Height()
	switch c.Code {
	case Corner:
		return Box{prior.XMin + code[0], prior.YMin + code[1], prior.XMax + code[2], prior.YMax + code[3]}
	case CenterSize:
		x, y := prior.centre()
		x, y = float32(code[0]*w)+x, float32(code[1]*h)+y
		halfWidth, halfHeight := exp(code[2])*w/2, exp(code[3])*h/2
		return Box{x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight}
	case CornerSize:
		return Box{prior.XMin + float32(code[0]*w), prior.YMin + float32(code[1]*h), prior.XMax + float32(code[2]*w), prior.YMax + float32(code[3]*h)}
	}
	panic("box: unknown code")
}

func (b Box) centre() (x, y float32) { return (b.XMin + b.XMax) / 2, (b.YMin + b.YMax) / 2 }

func log(v float32) float32 { return float32(math.Log(float64(v))) }
func exp(v float32) float32 { return float32(math.Exp(float64(v))) }
