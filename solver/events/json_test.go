package events

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)

// samples has an event of every kind, every field of which is set.
var samples = []Body{
	&Started{Solver: "a \"b\".prototxt", Net: "n", Iteration: 3, MaxIter: 9, Items: 64, Workers: 2, Seed: math.MaxUint64, Snapshot: "s", SolverText: "x: 1\n", NetText: "<&>"},
	&Iteration{Iteration: 4, Loss: 0.1, Smoothed: 0.2, Rate: 1e-7, Speed: 12.5, Wait: 0.5, Outputs: []Value{{"loss", 0.1, 1}, {"acc[1]", -2, 0}}},
	&Test{Iteration: 5, Net: 1, Loss: 3, Outputs: []Value{{"accuracy", 0.75, 0}}},
	&Snapshot{Iteration: 6, State: "s_iter_6.solverstate"},
	&Stopped{Iteration: 7, Early: true},
	&Crashed{Iteration: 8, Error: "no\nspace", Stack: "goroutine 5 [running]:\n\tmain.go:3"},
}

// TestLinesReadBack: every kind is one line, whose fields read back; a value prints with the digits of its float32.
func TestLinesReadBack(t *testing.T) {
	for _, b := range samples {
		line, err := Line(Event{testTime, b})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(line), "\n"); n != 1 || line[len(line)-1] != '\n' {
			t.Errorf("%s has %d newlines", line, n)
		}
		want := fmt.Sprintf(`{"event":%q,"time":"2026-01-02T03:04:05.678901Z",`, b.Kind())
		if !strings.HasPrefix(string(line), want) {
			t.Errorf("%s begins otherwise than %s", line, want)
		}
		got, err := Parse(line)
		if err != nil || !got.Time.Equal(testTime) || !reflect.DeepEqual(got.Body, b) {
			t.Errorf("%s reads back as %v, %+v, %v", line, got.Time, got.Body, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		float64(float32(0.1)): "0.1", 1e6: "1e+06", 0: "0", -3: "-3", 1e300: "1e+300", 1e-300: "1e-300", 16777217: "1.6777216e+07",
		math.NaN(): `"NaN"`, math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`,
	} {
		text, err := json.Marshal(Number(v))
		if err != nil || string(text) != want {
			t.Errorf("%g is %s, %v; want %s", v, text, err, want)
		}
		var back Number
		if err := json.Unmarshal(text, &back); err != nil || float32(back) != float32(v) && !(math.IsNaN(float64(back)) && math.IsNaN(v)) {
			t.Errorf("%s reads back as %g, %v", text, back, err)
		}
	}
	for _, bad := range []string{`"nan"`, `"1"`, `true`, `[]`} {
		var n Number
		if err := json.Unmarshal([]byte(bad), &n); err == nil {
			t.Errorf("%s is read as %g", bad, n)
		}
	}
}

// TestReadSkipsBrokenLines: events after a line that a kill has cut are read, and unknown kinds of newer versions are no faults.
func TestReadSkipsBrokenLines(t *testing.T) {
	whole, _ := Line(Event{testTime, samples[3]})
	text := string(whole) + string(whole[:20]) + "\n\n" + `{"event":"later","time":"2026-01-02T03:04:05Z"}` + "\n" +
		`{"event":"stopped","time":"yesterday"}` + "\n" + string(whole) + string(whole[:len(whole)-2])
	n := 0
	skipped, err := Read(strings.NewReader(text), func(e Event) {
		if n++; !reflect.DeepEqual(e.Body, samples[3]) {
			t.Errorf("read %+v", e.Body)
		}
	})
	if n != 2 || skipped != 3 || err != nil {
		t.Errorf("%d events, %d skipped, %v; want 2 and 3", n, skipped, err)
	}
}

// TestNewerFields: a field that this version does not know is skipped.
func TestNewerFields(t *testing.T) {
	e, err := Parse([]byte(`{"event":"stopped","time":"2026-01-02T03:04:05Z","iteration":3,"early":true,"mood":"good"}`))
	if want := (&Stopped{3, true}); err != nil || !reflect.DeepEqual(e.Body, want) {
		t.Errorf("%+v, %v", e.Body, err)
	}
}

// TestStreamOrder: subscribers take all later events, in order, with the stream's time.
func TestStreamOrder(t *testing.T) {
	s := NewStream(func() time.Time { return testTime })
	s.Publish(samples[0])
	var got []string
	s.Subscribe(func(e Event) { got = append(got, "a "+e.Kind()) })
	s.Publish(samples[1])
	s.Subscribe(func(e Event) { got = append(got, "b "+e.Kind()+e.Time.Format(" 15:04")) })
	s.Publish(samples[2])
	if want := "[a iteration a test b test 03:04]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
