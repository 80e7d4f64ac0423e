package box

import "math"

// Anchors returns the anchors x1, y1, x2, y2 of Faster R-CNN (Ren et al. 2015) around a pixel at (0, 0): for each ratio height / width a box with
// the area of the base square, its sides rounded to pixels, and for each scale that box enlarged around its centre. The last pixels x2 and y2
// belong to a box. Without ratios or scales those of Faster R-CNN count.
func Anchors(base int, ratios, scales []float32) [][4]float32 {
	if len(ratios) == 0 {
		ratios = []float32{0.5, 1, 2}
	}
	if len(scales) == 0 {
		scales = []float32{8, 16, 32}
	}
	var list [][4]float32
	middle := 0.5 * (float64(base) - 1)
	for _, r := range ratios {
		w := math.Floor(math.Sqrt(float64(base*base)/float64(r)) + 0.5)
		h := math.Floor(w*float64(r) + 0.5)
		for _, s := range scales {
			halfW, halfH := 0.5*(w*float64(s)-1), 0.5*(h*float64(s)-1)
			list = append(list, [4]float32{float32(middle - halfW), float32(middle - halfH), float32(middle + halfW), float32(middle + halfH)})
		}
	}
	return list
}
