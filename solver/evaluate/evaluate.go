// Package evaluate runs the batches of a test and reports detections. Its central type is Scorer, which runs batches on one worker or many.
//
// Detections are reported by their average precision, as SSD's solver does with eval_type: detection. Precision collects the rows of one output
// of a DetectionEvaluate layer over the batches of a test. A Method says whether and how a test reports it.
package evaluate

import (
	"fmt"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	swnet "github.com/swcaffe/swcaffe/net"
)

// Method says how a test's outputs are reported: their means, or as detections.
type Method struct {
	Detection bool   // the outputs are those of DetectionEvaluate; report mean average precisions
	Version   string // of average precision
	PerClass  bool   // report every class too
}

// DefaultVersion is the version of average precision that the solver takes.
const DefaultVersion = box.Integral

// Parse reads eval_type, ap_version and show_per_class_result.
func Parse(kind, version string, perClass bool) (Method, error) {
	m := Method{kind == "detection", version, perClass}
	if !m.Detection && kind != "classification" {
		return m, fmt.Errorf("unknown eval_type %q: use classification or detection", kind)
	}
	return m, box.CheckVersion(version)
}

// verdictValues is the number of values of a row of DetectionEvaluate: image, class, score, right, wrong. Rows of image -1 hold a class's
// number of objects in place of the score.
const verdictValues = 5

// Precision collects the rows of one output of DetectionEvaluate. The zero value has none.
type Precision struct {
	curves map[int]*box.Curve // by class
}

// ClassPrecision is the average precision of a class. Found is false if the class has no detections.
type ClassPrecision struct {
	Class   int
	Average float64
	Found   bool
}

// Add adds the rows of a batch. Rows that are neither right nor wrong do not count.
func (p *Precision) Add(rows []float32) {
	if p.curves == nil {
		p.curves = map[int]*box.Curve{}
	}
	for ; len(rows) >= verdictValues; rows = rows[verdictValues:] {
		class := int(rows[1])
		if p.curves[class] == nil {
			p.curves[class] = &box.Curve{}
		}
		switch {
		case rows[0] == -1:
			p.curves[class].Objects += int(rows[2])
		case rows[3] > 0:
			p.curves[class].Add(rows[2], true)
		case rows[4] > 0:
			p.curves[class].Add(rows[2], false)
		}
	}
}

// Classes returns the average precision of every class in order, and their mean. A class without detections has 0.
func (p *Precision) Classes(version string) (classes []ClassPrecision, mean float64) {
	for class, c := range p.curves {
		if class >= 0 { // class -1 stands for batches without detections
			classes = append(classes, ClassPrecision{class, c.Average(version), c.Detections() > 0})
		}
	}
	slices.SortFunc(classes, func(a, b ClassPrecision) int { return a.Class - b.Class })
	for _, c := range classes {
		mean += c.Average
	}
	return classes, mean / float64(max(1, len(classes)))
}

// Curve returns a class's recall and precision after each of its detections, by falling score.
func (p *Precision) Curve(class int) (recall, precision []float64) { return p.curves[class].Points() }

// CheckOutputs returns an error unless all outputs of a net are those of DetectionEvaluate, if detections are reported.
func (m Method) CheckOutputs(n *swnet.Net) error {
	if !m.Detection {
		return nil
	}
	if len(n.Outputs()) == 0 {
		return fmt.Errorf("eval_type: detection needs an output of a DetectionEvaluate layer, the net has no outputs")
	}
	for _, out := range n.Outputs() {
		if axes := out.Blob.NumAxes(); axes != 4 || out.Blob.Dim(3) != verdictValues {
			return fmt.Errorf("eval_type: detection needs outputs of DetectionEvaluate layers, of shape 1 1 N %d; output %q has shape %s", verdictValues, out.Name, out.Blob.ShapeString())
		}
	}
	return nil
}

// Log logs the average precisions of a net's outputs, whose names follow head and their number.
func (m Method) Log(log *logrus.Logger, outputs []Precision, name func(k int) string) {
	for k := range outputs {
		classes, mean := outputs[k].Classes(m.Version)
		for _, c := range classes {
			if !c.Found {
				log.Warnf("Missing true_pos for label: %d", c.Class)
			}
			if m.PerClass {
				log.Infof("class%d: %s", c.Class, caffelog.Figure(c.Average))
			}
		}
		log.Infof("%s = %s", name(k), caffelog.Figure(mean))
	}
}

// Detects reports whether all outputs of a net are made by DetectionEvaluate layers, so that a test can only report detections.
func Detects(n *swnet.Net) bool {
	made := map[int]bool{}
	for i := range n.NumLayers() {
		for _, id := range n.TopIDs(i) {
			made[id] = n.LayerType(i) == "DetectionEvaluate"
		}
	}
	outputs := n.OutputIDs()
	return len(outputs) > 0 && !slices.ContainsFunc(outputs, func(id int) bool { return !made[id] })
}
