package box

import (
	"cmp"
	"fmt"
	"slices"
)

// Curve collects the detections of one class.
type Curve struct {
	Objects    int // objects to be found
	detections []detection
}

type detection struct {
	score float32
	right bool
}

// Add adds a detection. right says that it found an object which no better detection found.
func (c *Curve) Add(score float32, right bool) {
	c.detections = append(c.detections, detection{score, right})
}

// Detections returns the number of detections.
func (c *Curve) Detections() int { return len(c.detections) }

// Versions of average precision.
const (
	ElevenPoint = "11point"     // the mean of the maximal precisions at recalls from 0, 0.1, ... 1 on (VOC 2007)
	MaxIntegral = "MaxIntegral" // the area under the curve of maximal precisions (VOC 2012, ILSVRC)
	Integral    = "Integral"    // the area under the curve itself
)

// CheckVersion returns an error for an unknown version of average precision.
func CheckVersion(version string) error {
	if !slices.Contains([]string{ElevenPoint, MaxIntegral, Integral}, version) {
		return fmt.Errorf("unknown ap_version %q: use %s, %s or %s", version, ElevenPoint, MaxIntegral, Integral)
	}
	return nil
}

// Points returns recall and precision after each detection, by falling score. Detections of equal scores count in the order of Add. There are
// none without objects.
func (c *Curve) Points() (recall, precision []float64) {
	if len(c.detections) == 0 || c.Objects == 0 {
		return nil, nil
	}
	slices.SortStableFunc(c.detections, func(a, b detection) int { return cmp.Compare(b.score, a.score) })
	right := 0
	recall, precision = make([]float64, len(c.detections)), make([]float64, len(c.detections))
	for i, d := range c.detections {
		if d.right {
			right++
		}
		recall[i], precision[i] = float64(right)/float64(c.Objects), float64(right)/float64(i+1)
	}
	return recall, precision
}

// Average returns the average precision. It is 0 without detections or objects.
func (c *Curve) Average(version string) float64 {
	recall, precision := c.Points()
	if len(recall) == 0 {
		return 0
	}
	switch version {
	case ElevenPoint:
		return elevenPoint(recall, precision)
	case MaxIntegral:
		for i := len(precision) - 2; i >= 0; i-- {
			precision[i] = max(precision[i], precision[i+1])
		}
		return area(recall, precision)
	case Integral:
		return area(recall, precision)
	}
	panic("box: unknown version of average precision")
}

func elevenPoint(recall, precision []float64) (mean float64) {
	for j := range 11 {
		best := 0.0
		for i, r := range recall {
			if r >= float64(j)/10 {
				best = max(best, precision[i])
			}
		}
		mean += best / 11
	}
	return mean
}

// area returns the sum of precision times rise of recall.
func area(recall, precision []float64) (sum float64) {
	var before float64
	for i, r := range recall {
		sum += precision[i] * (r - before)
		before = r
	}
	return sum
}
