package infer

import "github.com/swcaffe/swcaffe/solver/events"

// testJSON is the file of test's -json.
type testJSON struct {
	Model      string           `json:"model"`
	Weights    string           `json:"weights"`
	Batches    int              `json:"batches"`
	Loss       events.Number    `json:"loss"`
	Outputs    []meanJSON       `json:"outputs"`
	Detections []detectionsJSON `json:"detections"`
}

// meanJSON is the mean of one value of an output.
type meanJSON struct {
	Name       string        `json:"name"`
	Index      int           `json:"index"`
	Mean       events.Number `json:"mean"`
	LossWeight events.Number `json:"loss_weight"`
}

// detectionsJSON judges an output of DetectionEvaluate.
type detectionsJSON struct {
	Name    string        `json:"name"`
	Mean    events.Number `json:"mean_average_precision"`
	Classes []classJSON   `json:"classes"`
}

type classJSON struct {
	Class     int           `json:"class"`
	Precision events.Number `json:"average_precision"`
	Found     bool          `json:"found"`
}

// json returns the results.
func (s *scores) json(o *testOptions) testJSON {
	r := testJSON{
		Model: o.model, Weights: o.weights, Batches: s.batches, Loss: events.Number(s.loss / float64(s.batches)),
		Outputs: []meanJSON{}, Detections: []detectionsJSON{},
	}
	if !s.method.Detection {
		all := s.means()
		for _, out := range s.net.Outputs() {
			for i := range out.Blob.Count() {
				m := all[len(r.Outputs)]
				r.Outputs = append(r.Outputs, meanJSON{m.name, i, events.Number(m.value), events.Number(m.weight)})
			}
		}
		return r
	}
	for k, out := range s.net.Outputs() {
		classes, mean := s.precisions[k].Classes(s.method.Version)
		d := detectionsJSON{Name: out.Name, Mean: events.Number(mean), Classes: []classJSON{}}
		for _, c := range classes {
			d.Classes = append(d.Classes, classJSON{c.Class, events.Number(c.Average), c.Found})
		}
		r.Detections = append(r.Detections, d)
	}
	return r
}
