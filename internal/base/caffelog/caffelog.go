// Package caffelog formats the parts that Caffe's log lines share. Programs that read Caffe's logs can therefore read ours.
package caffelog

import (
	"fmt"
	"math"
	"strconv"
)

// Figure formats a number as C++ streams do by default: six significant digits; nan, inf and -inf.
func Figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// LossNote returns the text after an output's value if the output counts in the loss: " (* WEIGHT = PRODUCT loss)".
func LossNote(weight float32, value float64) string {
	if weight == 0 {
		return ""
	}
	return fmt.Sprintf(" (* %s = %s loss)", Figure(float64(weight)), Figure(float64(weight)*value))
}
