package annotation

import "github.com/swcaffe/swcaffe/internal/base/box"

// Unit is the box of a whole image. In normalised boxes x counts from 0 at the left edge to 1 at the right edge, y from 0 at the top to 1 at the
// bottom.
var Unit = box.Box{XMin: 0, YMin: 0, XMax: 1, YMax: 1}

// Project returns b in the coordinates of a part of the image, clipped to it. ok is false if nothing of b is in the part.
func Project(b, part box.Box) (projected box.Box, ok bool) {
	if b.XMin >= part.XMax || b.XMax <= part.XMin || b.YMin >= part.YMax || b.YMax <= part.YMin {
		return box.Box{}, false
	}
	p := b.Within(part).Clip(1, 1)
	return p, p.Size() > 0
}

// Mirror returns b in the horizontally mirrored image.
func Mirror(b box.Box) box.Box {
	return box.Box{XMin: 1 - b.XMax, YMin: b.YMin, XMax: 1 - b.XMin, YMax: b.YMax}
}
