package timeline

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestFormat: the exact text, from the description of Chrome's trace event format.
func TestFormat(t *testing.T) {
	var r Recorder
	at := time.Unix(100, 0)
	r.Name(0, "worker")
	r.Add(Span{Name: "late", Category: "c", Begin: at.Add(1500 * time.Nanosecond), Took: 2 * time.Millisecond, Notes: map[string]any{"type": "ReLU"}})
	r.Add(Span{Row: 0, Name: `a"b`, Begin: at})
	var m Recorder
	m.Name(0, "rank")
	m.AddMessage(Message{From: 0, To: 1, Bytes: 8, Sent: at, Wanted: at.Add(time.Microsecond), Begin: at.Add(time.Microsecond), End: at.Add(3 * time.Microsecond)})
	var out bytes.Buffer
	err := Write(&out, "a note", Process{"swcaffe train", &r}, Process{"modelled time", &m})
	want := `{"displayTimeUnit":"ms","otherData":{"note":"a note"},"traceEvents":[` + strings.Join([]string{
		`{"name":"process_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"swcaffe train"}}`,
		`{"name":"thread_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"worker"}}`,
		`{"name":"late","cat":"c","ph":"X","ts":1.5,"dur":2000,"pid":1,"tid":0,"args":{"type":"ReLU"}}`,
		`{"name":"a\"b","ph":"X","ts":0,"dur":0,"pid":1,"tid":0}`,
		`{"name":"process_name","ph":"M","ts":0,"pid":2,"tid":0,"args":{"name":"modelled time"}}`,
		`{"name":"thread_name","ph":"M","ts":0,"pid":2,"tid":0,"args":{"name":"rank"}}`,
		`{"name":"thread_name","ph":"M","ts":0,"pid":2,"tid":65536,"args":{"name":"rank: sends"}}`,
		`{"name":"thread_name","ph":"M","ts":0,"pid":2,"tid":65537,"args":{"name":"rank: waits"}}`,
		`{"name":"to worker 1","cat":"message","ph":"X","ts":1,"dur":2,"pid":2,"tid":65536,"args":{"bytes":8,"from":0,"to":1}}`,
		`{"name":"for worker 1","cat":"wait","ph":"X","ts":0,"dur":1,"pid":2,"tid":65537,"args":{"for":1}}`,
	}, ",") + `]}`
	if out.String() != want || err != nil {
		t.Errorf("%v:\n%s\nwant\n%s", err, out.String(), want)
	}
}

// TestRows: a worker's lanes follow it by name; times are milliseconds from the first span; what comes after Close is dropped.
func TestRows(t *testing.T) {
	var r Recorder
	at := time.Unix(100, 0)
	r.Name(0, "worker 0")
	r.Name(1, "worker 1")
	r.Name(2, "worker 2")
	r.Add(Span{Row: 1, Name: "late", Begin: at.Add(3 * time.Millisecond), Took: time.Millisecond})
	r.Add(Span{Row: r.Lane(0, "thread 1"), Name: "b", Begin: at.Add(time.Millisecond / 2)})
	r.Add(Span{Row: r.Lane(0, "thread 0"), Name: "c", Begin: at.Add(time.Millisecond)})
	r.Add(Span{Row: r.Lane(0, "thread 0"), Name: "a", Category: "x", Begin: at, Notes: map[string]any{"n": 1}})
	r.Add(Span{Row: 0, Name: "first", Begin: at.Add(time.Millisecond)})
	r.Close()
	r.Add(Span{Row: 2, Name: "closed", Begin: at})
	want := []Row{
		{"worker 0", []Mark{{Name: "first", Begin: 1}}},
		{"worker 0: thread 0", []Mark{{Name: "a", Category: "x", Notes: map[string]any{"n": 1}}, {Name: "c", Begin: 1}}},
		{"worker 0: thread 1", []Mark{{Name: "b", Begin: 0.5}}},
		{"worker 1", []Mark{{Name: "late", Begin: 3, Took: 1}}},
	}
	if got := r.Rows(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}
