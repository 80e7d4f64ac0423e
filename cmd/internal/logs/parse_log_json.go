package logs

import "github.com/swcaffe/swcaffe/solver/events"

// logReport is the file of parse_log's -json.
type logReport struct {
	Train []rowJSON `json:"train"`
	Test  []rowJSON `json:"test"`
}

// rowJSON has the outputs of a net at an iteration. Rate is NaN if the log has none.
type rowJSON struct {
	Iteration int           `json:"iteration"`
	Seconds   float64       `json:"seconds"`
	Rate      events.Number `json:"lr"`
	Outputs   []outputJSON  `json:"outputs"`
}

type outputJSON struct {
	Name  string        `json:"name"`
	Value events.Number `json:"value"`
}

func (t *outputTable) json() []rowJSON {
	rows := []rowJSON{}
	for _, row := range t.rows {
		r := rowJSON{row.iteration, row.seconds, events.Number(row.rate), []outputJSON{}}
		for _, name := range t.names {
			if v, ok := row.values[name]; ok {
				r.Outputs = append(r.Outputs, outputJSON{name, events.Number(v)})
			}
		}
		rows = append(rows, r)
	}
	return rows
}
