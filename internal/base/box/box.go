// Package box computes with the boxes of detection: overlap, codes relative to priors, matching, suppression and average precision.
//
// The central type is Box. A Coder encodes a box relative to a prior box, and decodes predictions. Match pairs boxes with the objects of an
// image. Suppress drops boxes that overlap better ones. Curve collects detections of one class and returns their average precision.
//
// The definitions are those of SSD (Liu et al. 2016), whose Caffe computes in float32. Products are rounded before they are added, so that all
// processors give the same bits.
package box

// Box is a rectangle with sides parallel to the axes. Most boxes are in units of the image's width and height.
type Box struct{ XMin, YMin, XMax, YMax float32 }

// Of returns the box of four values.
func Of(v []float32) Box { return Box{v[0], v[1], v[2], v[3]} }

// Put writes the box's four values.
func (b Box) Put(v []float32) { v[0], v[1], v[2], v[3] = b.XMin, b.YMin, b.XMax, b.YMax }

// Width returns the extent along x.
func (b Box) Width() float32 { return b.XMax - b.XMin }

// Height returns the extent along y.
func (b Box) Height() float32 { return b.YMax - b.YMin }

// Size returns the area, 0 if a maximum is below its minimum.
func (b Box) Size() float32 { return b.area(0) }

// area returns the area of a box whose sides are longer by rim.
func (b Box) area(rim float32) float32 {
	if b.XMax < b.XMin || b.YMax < b.YMin {
		return 0
	}
	return (b.Width() + rim) * (b.Height() + rim)
}

// Intersect returns the common part of two boxes. Its maxima are below its minima if there is none.
func (b Box) Intersect(o Box) Box {
	return Box{max(b.XMin, o.XMin), max(b.YMin, o.YMin), min(b.XMax, o.XMax), min(b.YMax, o.YMax)}
}

// Clip returns the part of a box within 0 <= x <= width, 0 <= y <= height.
func (b Box) Clip(width, height float32) Box {
	x := func(v float32) float32 { return max(min(v, width), 0) }
	y := func(v float32) float32 { return max(min(v, height), 0) }
	return Box{x(b.XMin), y(b.YMin), x(b.XMax), y(b.YMax)}
}

// Leaves reports whether a corner lies outside of the unit square.
func (b Box) Leaves() bool {
	for _, v := range [4]float32{b.XMin, b.YMin, b.XMax, b.YMax} {
		if Outside(v) {
			return true
		}
	}
	return false
}

// Outside reports whether a coordinate lies outside of the image.
func Outside(v float32) bool { return v < 0 || v > 1 }

// Scale returns the box in units of a width and a height.
func (b Box) Scale(width, height float32) Box {
	return Box{b.XMin * width, b.YMin * height, b.XMax * width, b.YMax * height}
}

// Within returns the box in the coordinates of a part of the image, in which the part is the unit square.
func (b Box) Within(part Box) Box {
	w, h := part.Width(), part.Height()
	return Box{(b.XMin - part.XMin) / w, (b.YMin - part.YMin) / h, (b.XMax - part.XMin) / w, (b.YMax - part.YMin) / h}
}

// Overlap returns the Jaccard overlap of two boxes: the area of the intersection over that of the union; 0 if they do not intersect.
func Overlap(a, b Box) float32 { return overlap(a, b, 0) }

// PixelOverlap is Overlap for boxes whose maxima are their last pixels, so that the sides are longer by 1.
func PixelOverlap(a, b Box) float32 { return overlap(a, b, 1) }

func overlap(a, b Box, rim float32) float32 {
	both := a.Intersect(b).area(rim)
	if !(both > 0) {
		return 0
	}
	return both / (a.area(rim) + b.area(rim) - both)
}

// Coverage returns the part of a box's area that lies in another box.
func Coverage(b, by Box) float32 {
	both := b.Intersect(by).Size()
	if !(both > 0) {
		return 0
	}
	return both / b.Size()
}
