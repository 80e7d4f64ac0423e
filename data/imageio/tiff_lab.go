package imageio

import "math"

// cieLab converts CIE L*a*b* of 8 bits to sRGB as libtiff does, in float32: through X, Y, Z, the matrix of IEC 61966-2-1 and a table of the
// curve with the exponent 1/2.4.
type cieLab struct {
	white [3]float32 // X, Y, Z of the reference white; Y is 100
	curve [labSteps + 1]float32
}

const (
	labSteps = 1500
	labStep  = float32(99) / labSteps // from the light of black, 1, to that of white, 100
)

var labToRGB = [3][3]float32{{3.2410, -1.5374, -0.4986}, {-0.9692, 1.8760, 0.0416}, {0.0556, -0.2040, 1.0570}}

// newCIELab takes the chromaticity x, y of the reference white.
func newCIELab(x, y float32) *cieLab {
	c := &cieLab{}
	c.white = [3]float32{float32(x/y) * 100, 100, float32((1-x-y)/y) * 100}
	for i := range c.curve {
		gamma := float32(2.4)
		c.curve[i] = 255 * float32(math.Pow(float64(i)/labSteps, 1/float64(gamma)))
	}
	return c
}

// pixel converts L from 0 to 255, a and b from -128 to 127 to red, green and blue.
func (c *cieLab) pixel(out []byte, l byte, a, b int8) {
	var xyz [3]float32
	L := float32(l) * 100 / 255
	var f float32 // the cube root of Y, of white 1
	if L < 8.856 {
		xyz[1] = float32(L*c.white[1]) / 903.292
		f = float32(7.787*float32(xyz[1]/c.white[1])) + float32(16)/116
	} else {
		f = (L + 16) / 116
		xyz[1] = float32(float32(c.white[1]*f)*f) * f
	}
	cube := func(white, v float32) float32 {
		if v < 0.2069 {
			return float32(white*(v-0.13793)) / 7.787
		}
		return float32(float32(white*v)*v) * v
	}
	xyz[0] = cube(c.white[0], float32(a)/500+f)
	xyz[2] = cube(c.white[2], f-float32(b)/200)
	for i, m := range labToRGB {
		light := float32(float32(m[0]*xyz[0])+float32(m[1]*xyz[1])) + float32(m[2]*xyz[2])
		light = max(1, min(light, 100))
		at := min(labSteps, int((light-1)/labStep))
		out[i] = byte(min(255, int(float64(c.curve[at])+0.5)))
	}
	out[3] = 255
}
