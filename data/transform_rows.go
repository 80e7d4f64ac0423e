package data

// gather writes src[i*stride] to row[i].
func gather[T byte | float32](row []float32, src []T, stride int) {
	for i, at := 0, 0; i < len(row); i, at = i+1, at+stride {
		row[i] = float32(src[at])
	}
}

func (t *Transformer) subtract(row []float32, mean float32) {
	for i, v := range row {
		row[i] = (v - mean) * t.scale
	}
}

func (t *Transformer) subtractMean(row, mean []float32) {
	for i, v := range row {
		row[i] = (v - mean[i]) * t.scale
	}
}
