package imageio

import (
	"fmt"
	"math"
)

// Interpolation is a way to resize, as in cv::resize.
type Interpolation int

const (
	Linear   Interpolation = iota // the two nearest pixels of each axis, as Resize
	Area                          // the mean over the pixel's area; enlarging, like Linear with narrow transitions
	Nearest                       // the pixel at the upper left of the position
	Cubic                         // four pixels of each axis, with a = -0.75
	Lanczos4                      // eight pixels of each axis
)

// ResizeWith scales to height x width. Nearest, Area and Lanczos4 agree with OpenCV 4.6 exactly; Cubic may differ by 1, because
// OpenCV's vector code sums in float32 and its plain code in integers, which this is.
func (im *Image) ResizeWith(mode Interpolation, height, width int) (*Image, error) {
	if mode == Linear || height == im.Height && width == im.Width {
		return im.Resize(height, width)
	}
	if err := checkResized(height, width, im.Channels); err != nil {
		return nil, err
	}
	switch mode {
	case Nearest:
		return im.nearest(height, width), nil
	case Cubic:
		return im.convolve(kernels(im.Height, height, cubic), kernels(im.Width, width, cubic)), nil
	case Lanczos4:
		return im.convolve(kernels(im.Height, height, lanczos4), kernels(im.Width, width, lanczos4)), nil
	case Area:
		if height <= im.Height && width <= im.Width {
			return im.average(height, width), nil
		}
		return im.rows().interpolate(enlarging(im.Height, height), enlarging(im.Width, width)).image()
	}
	panic(fmt.Sprintf("imageio: unknown interpolation %d", mode))
}

func (im *Image) nearest(height, width int) *Image {
	dst := New(height, width, im.Channels)
	n := im.Channels
	perX, perY := 1/(float64(width)/float64(im.Width)), 1/(float64(height)/float64(im.Height))
	for y := range height {
		row := im.Pix[min(int(float64(y)*perY), im.Height-1)*im.Width*n:]
		out := dst.Pix[y*width*n:]
		for x := range width {
			copy(out[x*n:(x+1)*n], row[min(int(float64(x)*perX), im.Width-1)*n:])
		}
	}
	return dst
}

// kernel gives the weights, in units of 1/2048, of source positions from first on.
type kernel struct {
	first   int
	weights []int32
}

// kernels returns the kernel of each output position for a function that returns the weights of a fraction.
func kernels(from, to int, weights func(f float32) []float32) []kernel {
	ks := make([]kernel, to)
	scale := 1 / (float64(to) / float64(from))
	for i := range ks {
		at := float32((float64(i)+0.5)*scale - 0.5)
		low := int(math.Floor(float64(at)))
		ws := weights(at - float32(low))
		ks[i].first = low - len(ws)/2 + 1
		for _, w := range ws {
			ks[i].weights = append(ks[i].weights, weight(w))
		}
	}
	return ks
}

// cubic returns the weights of the pixels at -1, 0, 1 and 2 for position f, 0 <= f < 1.
func cubic(f float32) []float32 {
	const a = -0.75
	near := func(x float32) float32 { return float32(float32(float32(float32((a+2)*x)-(a+3))*x)*x) + 1 }
	x := f + 1
	far := float32(float32(float32(float32(float32(float32(a*x)-5*a)*x)+8*a)*x)) - 4*a
	w := []float32{far, near(f), near(1 - f), 0}
	w[3] = 1 - w[0] - w[1] - w[2]
	return w
}

// lanczos4 returns the weights sinc(d) sinc(d/4) of the pixels at -3 to 4 for position f, d their distances, divided by their sum.
func lanczos4(f float32) []float32 {
	w := make([]float32, 8)
	if f < 1.1920929e-7 {
		w[3] = 1
		return w
	}
	var sum float32
	sign := 1.0 // of sin(pi d), whose value is the same for all
	for i := range w {
		d := float64(f + 3 - float32(i))
		w[i] = float32(sign * math.Sin(d*math.Pi/4) / (d * d * math.Pi / 4 * math.Pi / 4))
		sum += w[i]
		sign = -sign
	}
	for i := range w {
		w[i] *= 1 / sum
	}
	return w
}

// enlarging returns the taps of Area where the image grows.
func enlarging(from, to int) []tap {
	ts := make([]tap, to)
	grow := float64(to) / float64(from)
	for i := range ts {
		low := int(math.Floor(float64(i) * (1 / grow)))
		f := float32(float64(i+1) - float64(low+1)*grow)
		if f <= 0 {
			f = 0
		} else {
			f -= float32(math.Floor(float64(f)))
		}
		ts[i] = tap{low, min(low+1, from-1), weight(1 - f), weight(f)}
	}
	return ts
}

// convolve applies kernels to columns and rows. Positions outside the image take its nearest pixel.
func (im *Image) convolve(lines, columns []kernel) *Image {
	dst := New(len(lines), len(columns), im.Channels)
	n, width := im.Channels, len(columns)*im.Channels
	rows := make([]int32, im.Height*width)
	for y := range im.Height {
		in, out := im.Pix[y*im.Width*n:], rows[y*width:]
		for x, k := range columns {
			for c := range n {
				var sum int32
				for i, w := range k.weights {
					sum += int32(in[within(k.first+i, im.Width)*n+c]) * w
				}
				out[x*n+c] = sum
			}
		}
	}
	for y, k := range lines {
		out := dst.Pix[y*width:][:width]
		for x := range out {
			var sum int64
			for i, w := range k.weights {
				sum += int64(rows[within(k.first+i, im.Height)*width+x]) * int64(w)
			}
			out[x] = byte(max(0, min(255, (sum+1<<21)>>22)))
		}
	}
	return dst
}

func within(i, n int) int { return max(0, min(i, n-1)) }
