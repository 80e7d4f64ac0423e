package data

// Restore undoes scale and mean for the values of a transformed image, in place, so that it can be shown. Mirroring and crop stay. The crop
// of mean_file's values is the central one, as in phase TEST. A scale of 0, which cannot be undone, leaves the values.
func (t *Transformer) Restore(y []float32, shape [3]int) {
	channels, height, width := shape[0], shape[1], shape[2]
	for i := range y {
		if t.scale != 0 {
			y[i] /= t.scale
		}
		c, h, w := i/(height*width), i/width%height, i%width
		if t.mean == nil {
			y[i] += t.channelMean(c)
			continue
		}
		top, left := (t.meanShape[1]-height)/2, (t.meanShape[2]-width)/2
		if t.meanShape[0] == channels && top >= 0 && left >= 0 {
			y[i] += t.mean[(c*t.meanShape[1]+top+h)*t.meanShape[2]+left+w]
		}
	}
}
