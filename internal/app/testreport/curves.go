package testreport

import (
	"fmt"
	"strings"
)

// Curve is a class's curve of precision over recall, in a square of curveSide units.
type Curve struct {
	Name    string `json:"name"`
	Average string `json:"average"`
	Points  string `json:"points"` // corners of an SVG polyline
	Found   bool   `json:"found"`  // the class has detections
}

const curveSide = 100

// showCurves shows the curves of every DetectionEvaluate layer, and their mean average precision.
func (r *Report) showCurves(s *Results) {
	for k := range r.detections {
		classes, mean := r.detections[k].Classes(r.opt.Version)
		s.Figures = append(s.Figures, Row{r.names[k] + ", mean average precision", percent(mean, true)})
		for _, c := range classes {
			recall, precision := r.detections[k].Curve(c.Class)
			s.Curves = append(s.Curves, Curve{r.name(c.Class), percent(c.Average, c.Found), points(recall, precision), len(recall) > 0})
		}
	}
}

// points returns the corners of a curve for an SVG polyline. Recall grows to the right and precision upwards.
func points(recall, precision []float64) string {
	var b strings.Builder
	for i := range recall {
		x, y := fmt.Sprintf("%.1f", curveSide*recall[i]), fmt.Sprintf("%.1f", curveSide*(1-precision[i]))
		fmt.Fprintf(&b, "%s,%s ", x, y)
	}
	return strings.TrimSpace(b.String())
}
