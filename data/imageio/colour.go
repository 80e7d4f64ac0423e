package imageio

import "math"

// ToHSV converts B, G, R to hue, saturation and value, as cv::cvtColor does: the hue runs from 0 to 179, 180 being the whole circle, the others
// from 0 to 255.
func (im *Image) ToHSV() *Image {
	im.needColours("ToHSV")
	dst := New(im.Height, im.Width, 3)
	for i := 0; i < len(im.Pix); i += 3 {
		b, g, r := int32(im.Pix[i]), int32(im.Pix[i+1]), int32(im.Pix[i+2])
		v := max(b, g, r)
		diff := v - min(b, g, r)
		var h int32
		switch v {
		case r:
			h = g - b
		case g:
			h = b - r + 2*diff
		default:
			h = r - g + 4*diff
		}
		if h = (h*hueTable[diff] + 1<<11) >> 12; h < 0 {
			h += 180
		}
		dst.Pix[i], dst.Pix[i+1], dst.Pix[i+2] = byte(h), byte((diff*saturationTable[v]+1<<11)>>12), byte(v)
	}
	return dst
}

// hueTable holds 30/i and saturationTable 255/i, times 4096; both begin with 0.
var hueTable, saturationTable = quotients(30), quotients(255)

func quotients(of float64) (table [256]int32) {
	for i := 1; i < 256; i++ {
		table[i] = int32(math.RoundToEven(of * 4096 / float64(i)))
	}
	return table
}

// FromHSV is the inverse of ToHSV. A hue of 180 or more has gone round the circle. Values are rounded, as by the plain code of OpenCV 4.6;
// its vector code, which takes 32 pixels of a row at a time, cuts them off and so differs by up to 1.
func (im *Image) FromHSV() *Image {
	im.needColours("FromHSV")
	dst := New(im.Height, im.Width, 3)
	for i := 0; i < len(im.Pix); i += 3 {
		h := float32(im.Pix[i]) * (6.0 / 180)
		s, v := float32(im.Pix[i+1])*(1.0/255), float32(im.Pix[i+2])*(1.0/255)
		sector := int(h)
		h -= float32(sector)
		low, falling, rising := v*(1-s), v*(1-float32(s*h)), v*(1-float32(s*(1-h)))
		var b, g, r float32
		switch sector % 6 {
		case 0:
			b, g, r = low, rising, v
		case 1:
			b, g, r = low, v, falling
		case 2:
			b, g, r = rising, v, low
		case 3:
			b, g, r = v, falling, low
		case 4:
			b, g, r = v, low, rising
		case 5:
			b, g, r = falling, low, v
		}
		dst.Pix[i], dst.Pix[i+1], dst.Pix[i+2] = saturate(b*255), saturate(g*255), saturate(r*255)
	}
	return dst
}

// Luma returns an image's grey version as an image of three equal channels, with cv::cvtColor's 15-bit weights.
func (im *Image) Luma() *Image {
	im.needColours("Luma")
	dst := New(im.Height, im.Width, 3)
	for i := 0; i < len(im.Pix); i += 3 {
		v := byte((3735*int32(im.Pix[i]) + 19235*int32(im.Pix[i+1]) + 9798*int32(im.Pix[i+2]) + 1<<14) >> 15)
		dst.Pix[i], dst.Pix[i+1], dst.Pix[i+2] = v, v, v
	}
	return dst
}

func (im *Image) needColours(what string) {
	if im.Channels != 3 {
		panic("imageio: " + what + " needs an image of 3 channels")
	}
}

// Scaled returns factor times the values of an image plus offset, rounded and limited to bytes, as cv::Mat::convertTo. Channel -1 means all
// channels, any other value one of them.
func (im *Image) Scaled(channel int, factor, offset float32) *Image {
	var table [256]byte
	for v := range table {
		table[v] = saturate(float32(float32(v)*factor) + offset)
	}
	dst := New(im.Height, im.Width, im.Channels)
	copy(dst.Pix, im.Pix)
	for i, v := range im.Pix {
		if channel < 0 || i%im.Channels == channel {
			dst.Pix[i] = table[v]
		}
	}
	return dst
}

// Erode returns the minimum of every pixel and its four neighbours, as cv::erode with an ellipse of 3 x 3 pixels.
func (im *Image) Erode() *Image {
	dst := New(im.Height, im.Width, im.Channels)
	n, row := im.Channels, im.Width*im.Channels
	for y := range im.Height {
		for i := range row {
			at := y*row + i
			v := im.Pix[at]
			if y > 0 {
				v = min(v, im.Pix[at-row])
			}
			if y+1 < im.Height {
				v = min(v, im.Pix[at+row])
			}
			if i >= n {
				v = min(v, im.Pix[at-n])
			}
			if i+n < row {
				v = min(v, im.Pix[at+n])
			}
			dst.Pix[at] = v
		}
	}
	return dst
}
