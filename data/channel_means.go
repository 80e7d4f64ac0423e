package data

import "github.com/swcaffe/swcaffe/blob"

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
