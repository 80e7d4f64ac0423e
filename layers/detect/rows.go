package detect

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/layers"
)

// Values of an object's row, and of a detection's.
const (
	objectValues    = 8 // image, class, instance, box, difficult
	detectionValues = 7 // image, class, score, box
	verdictValues   = 5 // image, class, score, right, wrong
)

// object is an object of an image.
type object struct {
	box.Box
	label     int
	difficult bool
}

// checkRows returns an error unless a bottom consists of rows of n values.
func checkRows(bottom *blob.Blob, index int, n int, what string) error {
	if bottom.NumAxes() != 4 || bottom.Dim(0) != 1 || bottom.Dim(1) != 1 || bottom.Dim(3) != n {
		return fmt.Errorf("bottom[%d] must have the shape 1 1 N %d of N %s, its shape is %s", index, n, what, bottom.ShapeString())
	}
	return nil
}

// labelOf converts a label. It returns an error unless it is an integer 0 <= label < classes that is not the background's.
func labelOf(v float32, what string, row, classes, background int) (int, error) {
	label := int(v)
	switch {
	case float32(label) != v || label < 0 || label >= classes:
		return 0, layers.WrongValue("%s %d has label %g, but there are %d classes (0 to %d)", what, row, v, classes, classes-1)
	case label == background:
		return 0, layers.WrongValue("%s %d has the background's label %d", what, row, label)
	}
	return label, nil
}

// finite reports whether all values are finite.
func finite(values []float32) bool {
	for _, v := range values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return false
		}
	}
	return true
}
