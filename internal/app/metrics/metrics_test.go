package metrics

import (
	"encoding/json"
	"math"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/swcaffe/swcaffe/solver/events"
)

// scrape returns the values of all metrics by name and labels, as Prometheus's own parser reads them.
func scrape(t *testing.T, s *Set) map[string]float64 {
	t.Helper()
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if kind := answer.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Errorf("content type %q", kind)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for name, f := range families {
		if f.GetHelp() == "" {
			t.Errorf("%s has no help", name)
		}
		for _, m := range f.Metric {
			key := name
			for _, l := range m.Label {
				key += " " + l.GetName() + "=" + l.GetValue()
			}
			switch {
			case m.Counter != nil:
				values[key] = m.Counter.GetValue()
			case m.Gauge != nil:
				values[key] = m.Gauge.GetValue()
			}
		}
	}
	return values
}

// TestValues: every event moves the metrics that it should.
func TestValues(t *testing.T) {
	s := New()
	at := time.Unix(1000, 500e6)
	take := func(b events.Body) { s.Take(events.Event{Time: at, Body: b}) }
	expect := func(want map[string]float64) {
		t.Helper()
		got := scrape(t, s)
		for name, v := range want {
			if g, ok := got["swcaffe_"+name]; !ok || g != v && !(math.IsNaN(g) && math.IsNaN(v)) {
				t.Errorf("%s is %g (present: %v), want %g", name, g, ok, v)
			}
		}
	}
	expect(map[string]float64{"running": 0, "iterations_total": 0})
	take(&events.Started{Solver: `a "b"\`, Net: "n", Iteration: 7, MaxIter: 90, Items: 64, Workers: 2})
	expect(map[string]float64{"running": 1, "iteration": 7, "max_iteration": 90, "start_timestamp_seconds": 1000.5, `run_info net=n solver=a "b"\ workers=2`: 1})
	for i := 7; i < 10; i++ {
		take(&events.Iteration{Iteration: i, Loss: events.Number(i), Smoothed: 2, Rate: 0.25, Speed: 500, Wait: 0.125, Outputs: []events.Value{{Name: "l", Value: events.Number(math.NaN())}}})
	}
	take(&events.Test{Iteration: 10, Net: 1, Loss: 3, Outputs: []events.Value{{Name: "accuracy", Value: 0.75}}})
	take(&events.Snapshot{Iteration: 10})
	expect(map[string]float64{
		"iteration": 10, "iterations_total": 3, "items_total": 192, "loss": 9, "smoothed_loss": 2, "learning_rate": 0.25, "items_per_second": 500, "data_wait_ratio": 0.125,
		"train_output output=l": math.NaN(), "test_loss test_net=1": 3, "test_output output=accuracy test_net=1": 0.75, "tests_total": 1,
		"snapshots_total": 1, "last_snapshot_timestamp_seconds": 1000.5, "crashes_total": 0,
	})
	take(&events.Crashed{})
	expect(map[string]float64{"running": 0, "crashes_total": 1})
	take(&events.Started{Net: "m"})
	take(&events.Stopped{})
	expect(map[string]float64{"running": 0, "run_info net=m solver= workers=0": 1})
	if got := scrape(t, s); got["swcaffe_run_info net=n solver=a \"b\"\\ workers=2"] != 0 {
		t.Error("the first run's info is still there")
	}
}

// names are those of a Set, all of whose vectors have values.
func names(t *testing.T) []string {
	s := New()
	s.Take(events.Event{Body: &events.Started{}})
	s.Take(events.Event{Body: &events.Iteration{Outputs: []events.Value{{Name: "l"}}}})
	s.Take(events.Event{Body: &events.Test{Outputs: []events.Value{{Name: "l"}}}})
	var list []string
	for key := range scrape(t, s) {
		if name, _, _ := strings.Cut(key, " "); strings.HasPrefix(name, "swcaffe_") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestNamesOfAnyBytes: names that are not UTF-8 end no training.
func TestNamesOfAnyBytes(t *testing.T) {
	s, name := New(), "l\xff"
	for _, b := range []events.Body{
		&events.Started{Solver: name, Net: name},
		&events.Iteration{Outputs: []events.Value{{Name: name, Value: 2}}},
		&events.Test{Outputs: []events.Value{{Name: name, Value: 3}}},
	} {
		s.Take(events.Event{Body: b})
	}
	got := scrape(t, s)
	for line, want := range map[string]float64{"run_info net=l\ufffd solver=l\ufffd workers=0": 1, "train_output output=l\ufffd": 2, "test_output output=l\ufffd test_net=0": 3} {
		if g, ok := got["swcaffe_"+line]; !ok || g != want {
			t.Errorf("%s is %g (present: %v), want %g", line, g, ok, want)
		}
	}
}

// TestDocs: docs/metrics.md lists every metric and no other, and Grafana's dashboard uses only metrics that exist.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(swcaffe_\\w+)").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	all := names(t)
	if !slices.Equal(listed, all) {
		t.Errorf("docs/metrics.md lists\n%q\nwant\n%q", listed, all)
	}
	text, err = os.ReadFile("../../../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil || board.Title == "" || len(board.Panels) < 5 {
		t.Fatalf("%v: dashboard %q with %d panels", err, board.Title, len(board.Panels))
	}
	for _, p := range board.Panels {
		if len(p.Targets) == 0 || p.Title == "" {
			t.Errorf("panel %q has no query", p.Title)
		}
		for _, target := range p.Targets {
			used := regexp.MustCompile(`swcaffe_\w+`).FindAllString(target.Expr, -1)
			for _, name := range used {
				if !slices.Contains(all, name) {
					t.Errorf("panel %q: %s does not exist", p.Title, name)
				}
			}
			if len(used) == 0 && !strings.Contains(target.Expr, "process_") {
				t.Errorf("panel %q: no metric in %q", p.Title, target.Expr)
			}
		}
	}
}
