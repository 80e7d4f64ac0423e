package imageio

import "math"

// share is a part of a source pixel in an output pixel.
type share struct {
	at   int
	part float32
}

// shares returns the shares of source pixels in each output pixel, when from pixels shrink to to.
func shares(from, to int) [][]share {
	all := make([][]share, to)
	scale := 1 / (float64(to) / float64(from))
	for i := range all {
		begin := float64(i) * scale
		end := begin + scale
		cell := min(scale, float64(from)-begin)
		last := min(int(math.Floor(end)), from-1)
		first := min(int(math.Ceil(begin)), last)
		if float64(first)-begin > 1e-3 {
			all[i] = append(all[i], share{first - 1, float32((float64(first) - begin) / cell)})
		}
		for at := first; at < last; at++ {
			all[i] = append(all[i], share{at, float32(1 / cell)})
		}
		if end-float64(last) > 1e-3 {
			all[i] = append(all[i], share{last, float32(min(end-float64(last), 1, cell) / cell)})
		}
	}
	return all
}

// average shrinks to height x width: every pixel is the mean over its area in the source.
func (im *Image) average(height, width int) *Image {
	if im.Height%height == 0 && im.Width%width == 0 {
		return im.blocks(height, width)
	}
	dst := New(height, width, im.Channels)
	n := im.Channels
	columns := shares(im.Width, width)
	row, sum := make([]float32, width*n), make([]float32, width*n)
	for y, lines := range shares(im.Height, height) {
		clear(sum)
		for _, line := range lines {
			in := im.Pix[line.at*im.Width*n:]
			clear(row)
			for x, parts := range columns {
				for _, p := range parts {
					for c := range n {
						row[x*n+c] += float32(float32(in[p.at*n+c]) * p.part)
					}
				}
			}
			for i, v := range row {
				sum[i] += float32(line.part * v)
			}
		}
		for i, v := range sum {
			dst.Pix[y*width*n+i] = saturate(v)
		}
	}
	return dst
}

// blocks is average for blocks of whole pixels.
func (im *Image) blocks(height, width int) *Image {
	dst := New(height, width, im.Channels)
	n, high, wide := im.Channels, im.Height/height, im.Width/width
	for y := range height {
		for i := range width * n {
			x, c := i/n, i%n
			sum := 0
			for dy := range high {
				for dx := range wide {
					sum += int(im.Pix[((y*high+dy)*im.Width+x*wide+dx)*n+c])
				}
			}
			if high == 2 && wide == 2 {
				dst.Pix[y*width*n+i] = byte((sum + 2) >> 2)
			} else {
				dst.Pix[y*width*n+i] = saturate(float32(sum) * (1 / float32(high*wide)))
			}
		}
	}
	return dst
}

// saturate rounds to the nearest byte, halves to the even one.
func saturate(v float32) byte { return byte(max(0, min(255, math.RoundToEven(float64(v))))) }

// halved is ResizeBy for the factor 1/2: each pixel is the mean of the up to four pixels below it, as cv::resize computes it.
func (im *Image) halved(height, width int) *Image {
	dst := New(height, width, im.Channels)
	n := im.Channels
	for y := range height {
		for i := range width * n {
			x, c := i/n, i%n
			sum, count := 0, 0
			for at := range 4 {
				fromY, fromX := 2*y+at/2, 2*x+at%2
				if fromY < im.Height && fromX < im.Width {
					sum, count = sum+int(im.Pix[(fromY*im.Width+fromX)*n+c]), count+1
				}
			}
			switch count {
			case 4:
				dst.Pix[y*width*n+i] = byte((sum + 2) >> 2)
			case 1, 2:
				dst.Pix[y*width*n+i] = saturate(float32(sum) / float32(count))
			}
		}
	}
	return dst
}
