package data

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
)

// CheckMean returns an error that names the first value of a mean image that is not finite.
func CheckMean(b *blob.Blob) error {
	for i, v := range b.Data() {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			plane, row := b.CountFrom(max(0, b.NumAxes()-2)), b.CountFrom(max(0, b.NumAxes()-1))
			return fmt.Errorf("the mean of channel %d, row %d, column %d is %v, not a finite number", i/plane, i%plane/row, i%row, v)
		}
	}
	return nil
}

// ChannelMeans returns the mean of each channel of a mean image. b holds at least channels x height x width values.
func ChannelMeans(b *blob.Blob, channels int) []float64 {
	plane := b.CountFrom(b.NumAxes() - 2)
	means := make([]float64, channels)
	for c := range means {
		for _, v := range b.Data()[c*plane : (c+1)*plane] {
			means[c] += float64(v)
		}
		means[c] /= float64(plane)
	}
	return means
}
