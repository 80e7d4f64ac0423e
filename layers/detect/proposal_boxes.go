package detect

import "math"

// imageInfo is a row of im_info: the size of an image, and the factors by which its sides were scaled.
type imageInfo struct{ height, width, scaleH, scaleW float32 }

// infoOf reads a row of im_info, which may have one factor for both sides.
func infoOf(row []float32) imageInfo {
	info := imageInfo{row[0], row[1], row[2], row[2]}
	if len(row) > 3 {
		info.scaleW = row[3]
	}
	return info
}

// propose moves an anchor by predicted steps (Ren et al. 2015, equation 2), clips it to the image, and writes x1, y1, x2, y2 and the score. Boxes
// with a side below least pixels of the unscaled image get the score -Inf.
func propose(row []float32, anchor [4]float32, dx, dy, dw, dh, score float32, info imageInfo, least float32) {
	w, h := anchor[2]-anchor[0]+1, anchor[3]-anchor[1]+1
	x, y := anchor[0]+0.5*w+float32(dx*w), anchor[1]+0.5*h+float32(dy*h)
	w, h = w*float32(math.Exp(float64(dw))), h*float32(math.Exp(float64(dh)))
	clip := func(v, size float32) float32 { return max(0, min(v, size-1)) }
	row[0], row[1] = clip(x-0.5*w, info.width), clip(y-0.5*h, info.height)
	row[2], row[3] = clip(x+0.5*w, info.width), clip(y+0.5*h, info.height)
	if row[4] = score; !(row[2]-row[0]+1 >= least*info.scaleW && row[3]-row[1]+1 >= least*info.scaleH) {
		row[4] = float32(math.Inf(-1))
	}
}

// overlapOf returns the area of the intersection of two boxes over that of their union.
func overlapOf(a, b []float32) float32 {
	w, h := min(a[2], b[2])-max(a[0], b[0])+1, min(a[3], b[3])-max(a[1], b[1])+1
	if !(w > 0 && h > 0) {
		return 0
	}
	area := func(v []float32) float32 { return float32((v[2] - v[0] + 1) * (v[3] - v[1] + 1)) }
	both := float32(w * h)
	return both / (area(a) + area(b) - both)
}
